// SPDX-License-Identifier: Apache-2.0
// Distributed stores without a network: ranks are stores in one process, whose group adds up what
// they give.
#include "kvstore/dist_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

#include "base/lock.h"
#include "kvstore/stores.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)
using Some = std::vector<Key>;
using Arrays = std::vector<NDArray>;

// Where the ranks meet. Thread-safe.
class Meeting {
 public:
  explicit Meeting(int ranks) : ranks_(ranks) {}

  int ranks() const { return ranks_; }
  void arrive(int rank, CollectiveRequest request) {
    std::map<int, CollectiveRequest> all;
    {
      const MutexLock lock(mutex_);
      seen_.push_back({request.name, request.count, request.priority});
      auto& waiting = waiting_[{request.store, request.name}];
      waiting.emplace(rank, std::move(request));
      if (static_cast<int>(waiting.size()) < ranks_) return;
      all.swap(waiting);
    }
    for (auto& [other, given] : all) combine(all.at(0), given, other);
    for (auto& [other, given] : all) {
      const std::size_t whole =
          bytes(given) * (given.kind == CollectiveKind::kGather ? all.size() : 1);
      if (given.kind != CollectiveKind::kBarrier && other != 0)
        std::memcpy(given.data, all.at(0).data, whole);
      given.done(failure);
    }
  }

  struct Seen {
    std::string name;
    int64_t count;
    int priority;
  };
  std::vector<Seen> seen() {
    const MutexLock lock(mutex_);
    return seen_;
  }
  std::exception_ptr failure;

 private:
  static std::size_t bytes(const CollectiveRequest& request) {
    return static_cast<std::size_t>(request.count) * dtype_size(request.dtype);
  }
  static void combine(CollectiveRequest& sum, const CollectiveRequest& given, int rank) {
    if (given.kind == CollectiveKind::kGather) {
      const std::size_t at = static_cast<std::size_t>(rank) * bytes(given);
      std::memcpy(static_cast<char*>(sum.data) + at, static_cast<char*>(given.data) + at,
                  bytes(given));
    }
    if (rank == 0 || given.kind != CollectiveKind::kSum) return;
    ASSERT_EQ(given.dtype, DType::kFloat32);
    for (int64_t i = 0; i < sum.count; ++i)
      static_cast<float*>(sum.data)[i] += static_cast<const float*>(given.data)[i];
  }

  const int ranks_;
  Mutex mutex_;
  std::map<std::pair<int32_t, std::string>, std::map<int, CollectiveRequest>> waiting_
      MX_GUARDED_BY(mutex_);
  std::vector<Seen> seen_ MX_GUARDED_BY(mutex_);
};

class Member final : public ProcessGroup {
 public:
  Member(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  bool is_server() const override { return false; }
  int rank() const override { return rank_; }
  int size() const override { return meeting_.ranks(); }
  int servers() const override { return 0; }
  void call(ServerCall) override { FAIL() << "there are no servers"; }
  bool next_call(ServedCall&) override { return false; }
  int lost_workers() const override { return 0; }
  int lost_servers() const override { return 0; }
  void submit(CollectiveRequest request) override { meeting_.arrive(rank_, std::move(request)); }

 private:
  Meeting& meeting_;
  const int rank_;
};

struct Job {
  explicit Job(int ranks, const char* type = "dist_sync") : meeting(ranks) {
    for (int r = 0; r < ranks; ++r) {
      members.push_back(std::make_unique<Member>(meeting, r));
      stores.push_back(
          std::make_unique<DistStore>(parse_store_type(type), config, *members.back()));
    }
  }
  ~Job() {
    // Operations under way use the group; their failures were the test's business.
    try {
      Engine::get().wait_for_all();
    } catch (const Error&) {
    }
  }
  // The same for each rank; values by rank.
  void init(const Key& key, const std::vector<NDArray>& values) {
    for (std::size_t r = 0; r < stores.size(); ++r)
      stores[r]->init(same_key(key, 1), std::span(&values[r], 1));
  }

  KvstoreConfig config;
  Meeting meeting;
  std::vector<std::unique_ptr<Member>> members;
  std::vector<std::unique_ptr<DistStore>> stores;
};

TEST(DistStore, AllRanksStartWithTheValuesOfRankZero) {
  Job job(3);
  job.init("a", {filled({2}, 5), filled({2}, 6), filled({2}, 7)});
  for (auto& store : job.stores) EXPECT_EQ(pulled(*store, "a", {2})[0], 5);
  EXPECT_EQ(job.stores[2]->rank(), 2);
  EXPECT_EQ(job.stores[2]->group_size(), 3);
}

TEST(DistStore, PushSumsOverDevicesAndRanks) {
  Job job(2);
  job.init("a", {filled({2}, 0), filled({2}, 0)});
  push(*job.stores[0], "a", {filled({2}, 1), filled({2}, 2)});
  push(*job.stores[1], "a", {filled({2}, 10, Device::gpu(0)), filled({2}, 20, Device::gpu(1))});
  for (auto& store : job.stores) EXPECT_EQ(pulled(*store, "a", {2})[0], 33);
}

// Alone, in lists, as rows: what one rank gives a key of its first store never meets what another
// gives the same key of its second.
TEST(DistStore, KeysOfTwoStoresHaveNothingToDoWithEachOther) {
  Job first(2);
  struct Second {
    DistStore left, right;
  } second{{parse_store_type("dist_sync"), first.config, *first.members[0]},
           {parse_store_type("dist_sync"), first.config, *first.members[1]}};
  const Some keys{1, 2};
  const Shape rows{4, 1};
  const auto init = [&](DistStore& store) {
    store.init(keys, Arrays{filled({2}, 0), filled({3}, 0)});
    store.init(same_key(9, 1), Arrays{make_row_sparse(rows, {1}, {0})});
  };
  const auto push_all = [&](DistStore& store, float value) {
    push(store, 1, {filled({2}, value)});
    store.push(keys, Arrays{filled({2}, value), filled({3}, value)}, 0);
    push(store, 9, {make_row_sparse(rows, {value}, {2})});
  };
  const auto expect = [&](DistStore& store, float sum) {
    EXPECT_EQ(pulled(store, 1, {2}), std::vector<float>(2, sum));
    EXPECT_EQ(pulled(store, 2, {3}), std::vector<float>(3, sum));
    const NDArray out(StorageType::kRowSparse, rows, DType::kFloat32, Device::cpu());
    const NDArray ids = make(Shape{1}, std::vector<float>{2});
    store.pull_rows(same_key(9, 1), std::span(&out, 1), std::span(&ids, 1), 0);
    out.wait_to_read();
    EXPECT_EQ(*static_cast<const float*>(out.sparse().values()), sum);
  };
  for (DistStore* store :
       {first.stores[0].get(), first.stores[1].get(), &second.left, &second.right})
    init(*store);
  push_all(*first.stores[0], 1);
  push_all(second.right, 20);  // the other store is first here
  push_all(*first.stores[1], 2);
  push_all(second.left, 10);
  for (const auto& store : first.stores) expect(*store, 3);
  for (DistStore* store : {&second.left, &second.right}) expect(*store, 30);
}

TEST(DistStore, UpdatersSeeTheSumOfAllRanksOnEachOfThem) {
  Job job(2, "dist_device_sync");
  job.init("a", {filled({2}, 100), filled({2}, 0)});
  for (auto& store : job.stores) {
    store->set_updater([](const Key&, const NDArray& pushed, const NDArray& stored) {
      // Reads when the operation runs: the sum of the ranks is not there yet.
      const std::array<Var*, 1> reads{pushed.var()}, writes{stored.var()};
      Engine::get().push(
          [=](const RunContext&) { stored.data_as<float>()[0] -= pushed.data_as<float>()[0]; },
          {.device = Device::cpu(), .reads = reads, .writes = writes, .name = "Update"});
    });
  }
  push(*job.stores[0], "a", {filled({2}, 1)});
  push(*job.stores[1], "a", {filled({2}, 10)});
  for (auto& store : job.stores) EXPECT_EQ(pulled(*store, "a", {2})[0], 89);
}

TEST(DistStore, PushPullWorksInPlace) {
  Job job(2);
  job.init(3, {filled({2}, 0), filled({2}, 0)});
  const Arrays a{filled({2}, 1)}, b{filled({2}, 2)};
  job.stores[0]->push_pull(Some{3}, a, Some{3}, a, 0);
  job.stores[1]->push_pull(Some{3}, b, Some{3}, b, 0);
  EXPECT_EQ(floats(a[0])[0], 3);
  EXPECT_EQ(floats(b[0])[0], 3);
}

// Three keys in one call, the second too big to travel with others.
struct Three {
  std::vector<Key> keys{"a", "big", "c"};
  std::vector<Shape> shapes{{2}, {100000}, {3, 1}};
  Arrays filled_with(float value) const {
    Arrays arrays;
    for (const Shape& shape : shapes) arrays.push_back(filled(shape, value));
    return arrays;
  }
};

TEST(DistStore, SmallKeysOfACallTravelAsOne) {
  Job job(2);
  const Three three;
  for (int r = 0; r < 2; ++r) job.stores[r]->init(three.keys, three.filled_with(7.0f + r));
  for (auto& store : job.stores) EXPECT_EQ(pulled(*store, "c", {3, 1})[2], 7);
  Engine::get().wait_for_all();
  const std::size_t before = job.meeting.seen().size();
  const Arrays mine = three.filled_with(1), other = three.filled_with(2);
  job.stores[0]->push_pull(three.keys, mine, three.keys, mine, 0);
  job.stores[1]->push_pull(three.keys, other, three.keys, other, 0);
  for (const Arrays& arrays : {mine, other})
    for (const NDArray& array : arrays)
      EXPECT_EQ(floats(array), std::vector<float>(static_cast<std::size_t>(array.size()), 3));
  EXPECT_EQ(pulled(*job.stores[1], "a", {2})[1], 3) << "stored as well";
  const std::vector<Meeting::Seen> seen = job.meeting.seen();
  EXPECT_EQ(seen.size() - before, 4U) << "two of each rank";
  EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [](const Meeting::Seen& request) {
    return request.name == "'a' and 1 more" && request.count == 5;
  }));
}

TEST(DistStore, UpdatersSeeEachOfTheKeysThatTravelTogether) {
  Job job(1);
  const Three three;
  job.stores[0]->init(three.keys, three.filled_with(10));
  std::vector<Key> updated;
  job.stores[0]->set_updater([&](const Key& key, const NDArray& pushed, const NDArray& stored) {
    updated.push_back(key);
    pushed.copy_to(stored);
  });
  const Arrays values = three.filled_with(4), outs = three.filled_with(0);
  std::vector<Key> twice{"a", "a", "big", "c"};
  job.stores[0]->push_pull(twice, Arrays{values[0], values[0], values[1], values[2]}, three.keys,
                           outs, 0);
  EXPECT_EQ(updated, (std::vector<Key>{"big", "a", "c"}));
  EXPECT_EQ(floats(outs[0])[0], 8);
  EXPECT_EQ(floats(outs[1])[0], 4);
  EXPECT_EQ(floats(outs[2])[0], 4);
}

TEST(DistStore, AKeyReadsWhatAnEarlierOneOfTheCallHasWritten) {
  Job job(1);
  job.stores[0]->init(Some{1, 2}, Arrays{filled({2}, 0), filled({2}, 0)});
  const NDArray between = filled({2}, 5), out = filled({2}, 0);
  job.stores[0]->push_pull(Some{1, 2}, Arrays{filled({2}, 3), between}, Some{1, 2},
                           Arrays{between, out}, 0);
  EXPECT_EQ(floats(out)[0], 3);
}

TEST(DistStore, AFailureIsNotForgottenByAListInPlace) {
  Job job(1);
  job.stores[0]->init(Some{1, 2}, Arrays{filled({2}, 0), filled({2}, 0)});
  const Arrays values{filled({2}, 3), broken_array({2})};
  job.stores[0]->push_pull(Some{1, 2}, values, Some{1, 2}, values, 0);
  EXPECT_NE(error_of([&] { values[1].wait_to_read(); }).find("gone wrong"), std::string::npos);
}

// Lists of a job of two ranks, of which the second gives ten times as much.
struct Lists {
  Lists() : job(2) {
    for (const auto& store : job.stores) store->init(keys, arrays(0));
  }
  Arrays arrays(float value) const {
    Arrays result;
    for (const Shape& shape : shapes) result.push_back(filled(shape, value));
    return result;
  }
  // Sums in place over both ranks, of the keys [first, last).
  void sum(const Arrays& mine, const Arrays& other, std::size_t first = 0, std::size_t last = 4) {
    const auto part = [&](const auto& all) { return std::span(all).subspan(first, last - first); };
    job.stores[0]->push_pull(part(keys), part(mine), part(keys), part(mine), 0);
    job.stores[1]->push_pull(part(keys), part(other), part(keys), part(other), 0);
  }
  static void fill(const Arrays& arrays, float value) {
    for (const NDArray& array : arrays) {
      const std::vector<float> data(static_cast<std::size_t>(array.size()), value);
      NDArray(array).sync_copy_from(data.data(), array.size());
    }
  }
  void expect(const Arrays& arrays, float value, const char* what) {
    for (std::size_t i = 0; i < arrays.size(); ++i)
      EXPECT_EQ(floats(arrays[i]),
                std::vector<float>(static_cast<std::size_t>(shapes[i].size()), value))
          << what << ", key " << i;
  }
  void expect_stored(std::size_t key, float value, const char* what) {
    for (const auto& store : job.stores)
      EXPECT_EQ(pulled(*store, keys[key], shapes[key]),
                std::vector<float>(static_cast<std::size_t>(shapes[key].size()), value))
          << what;
  }
  // Names of what has travelled since the last call, each once.
  // In no order: they travel as workers are free.
  std::vector<std::string> travelled() {
    Engine::get().wait_for_all();
    std::vector<std::string> names;
    const std::vector<Meeting::Seen> seen = job.meeting.seen();
    for (; seen_before < seen.size(); ++seen_before)
      if (std::find(names.begin(), names.end(), seen[seen_before].name) == names.end())
        names.push_back(seen[seen_before].name);
    std::sort(names.begin(), names.end());
    return names;
  }

  const std::vector<Key> keys{"a", "b", "big", "c"};
  const std::vector<Shape> shapes{{2}, {3, 2}, {100000}, {5}};
  Job job;
  std::size_t seen_before = 0;
};

TEST(DistStore, AListThatComesAgainSumsWhatIsInItThen) {
  Lists lists;
  const Arrays mine = lists.arrays(0), other = lists.arrays(0);
  lists.travelled();
  for (const float value : {1.0f, 2.0f, 3.0f}) {
    Lists::fill(mine, value);
    Lists::fill(other, 10 * value);
    lists.sum(mine, other);
    lists.expect(mine, 11 * value, "the first rank");
    lists.expect(other, 11 * value, "the second rank");
    for (std::size_t key = 0; key < 4; ++key) lists.expect_stored(key, 11 * value, "stored");
    EXPECT_EQ(lists.travelled(), (std::vector<std::string>{"'a' and 2 more", "'big'"}));
  }
  lists.sum(mine, other);  // twice without a wait between
  lists.sum(mine, other);
  lists.expect(mine, 132, "two sums");
}

TEST(DistStore, AListWithOtherArraysIsNoticed) {
  Lists lists;
  Arrays mine = lists.arrays(1), other = lists.arrays(10);
  for (const std::size_t changed :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    Lists::fill(mine, 1);
    Lists::fill(other, 10);
    const NDArray before = mine[changed];
    mine[changed] = filled(lists.shapes[changed], 1);
    lists.sum(mine, other);
    lists.expect(mine, 11, "with another array");
    EXPECT_EQ(floats(before)[0], 1) << "the earlier array is left alone";
  }
  for (int i = 0; i < 3; ++i) {  // which may lie where the earlier ones lay
    mine = lists.arrays(2);
    other = lists.arrays(20);
    lists.sum(mine, other);
    lists.expect(mine, 22, "all anew");
    lists.expect(other, 22, "all anew");
  }
  const Arrays views{filled({3}, 4).slice(1, 3), mine[1], mine[2], mine[3]};
  Lists::fill(mine, 4);
  Lists::fill(other, 40);
  lists.sum(views, other);
  lists.expect(views, 44, "with a view");
}

TEST(DistStore, AnArrayOfAnotherShapeIsRefusedInAListThatIsKnown) {
  Lists lists;
  const Arrays mine = lists.arrays(1), other = lists.arrays(10);
  lists.sum(mine, other);
  Arrays wrong = mine;
  wrong[1] = mine[1].reshape({2, 3});
  Lists::fill(mine, 1);
  Lists::fill(other, 10);
  lists.job.stores[1]->push_pull(Some{"a"}, Arrays{other[0]}, Some{"a"}, Arrays{other[0]}, 0);
  EXPECT_NE(error_of([&] {
              lists.job.stores[0]->push_pull(lists.keys, wrong, lists.keys, wrong, 0);
            }).find("key 'b': given shape (2,3), expected (3,2)"),
            std::string::npos);
  EXPECT_EQ(floats(mine[0])[0], 11) << "what came before it has travelled";
  EXPECT_EQ(floats(mine[3])[0], 1);
}

// Ranks that know a list and ranks that do not are to cut it alike.
TEST(DistStore, OtherListsThatBeginWithTheSameKeyTravelAsIfTheyWereNew) {
  Lists lists;
  const Arrays mine = lists.arrays(0), other = lists.arrays(0);
  const auto round = [&](std::size_t first, std::size_t last) {
    Lists::fill(mine, 1);
    Lists::fill(other, 10);
    lists.sum(mine, other, first, last);
    for (std::size_t key = 0; key < 4; ++key) {
      const float expected = key >= first && key < last ? 11 : 1;
      EXPECT_EQ(floats(mine[key])[0], expected) << "key " << key << " of " << first << ".." << last;
    }
    return lists.travelled();
  };
  using Names = std::vector<std::string>;
  lists.travelled();
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(round(0, 2), (Names{"'a' and 1 more"}));
    EXPECT_EQ(round(0, 4), (Names{"'a' and 2 more", "'big'"}));
    EXPECT_EQ(round(0, 3), (Names{"'a' and 1 more", "'big'"}));
    EXPECT_EQ(round(1, 4), (Names{"'b' and 1 more", "'big'"}));
  }
  round(0, 4);
  for (const auto& store : lists.job.stores) store->init(Some{"late"}, Arrays{filled({1}, 0)});
  lists.travelled();
  EXPECT_EQ(round(0, 4), (Names{"'a' and 2 more", "'big'"}));
}

TEST(DistStore, LongListsAreCutInTheSamePlacesEachTime) {
  Job job(1);
  std::vector<Key> keys;
  Arrays values;
  for (int i = 0; i < 100; ++i) {
    keys.emplace_back(i);
    values.push_back(filled({60000}, 1));  // 17 of them are 4 MB
  }
  job.stores[0]->init(keys, values);
  Engine::get().wait_for_all();
  std::vector<std::string> first;
  for (int times = 0; times < 3; ++times) {
    const std::size_t before = job.meeting.seen().size();
    job.stores[0]->push_pull(keys, values, keys, values, 0);
    Engine::get().wait_for_all();
    std::vector<std::string> names;
    const std::vector<Meeting::Seen> seen = job.meeting.seen();
    for (std::size_t i = before; i < seen.size(); ++i) names.push_back(seen[i].name);
    std::sort(names.begin(), names.end());  // they run as workers are free
    if (times == 0) first = names;
    EXPECT_EQ(names, first);
    EXPECT_EQ(names.size(), 6U);
  }
  EXPECT_EQ(floats(values[99])[7], 1);
}

TEST(DistStore, KnownListsKeepToPrioritiesDirectionsAndDevices) {
  Lists lists;
  const Arrays mine = lists.arrays(1), other = lists.arrays(10);
  const auto both = [&](auto&& call) {
    call(*lists.job.stores[0], mine);
    call(*lists.job.stores[1], other);
  };
  for (int times = 0; times < 2; ++times) {
    Lists::fill(mine, 1);
    Lists::fill(other, 10);
    both([&](DistStore& store, const Arrays& given) { store.push(lists.keys, given, 3); });
    lists.expect_stored(0, 11, "pushed");
    EXPECT_EQ(floats(mine[0])[0], 1) << "a push writes nothing";
    const Arrays outs = lists.arrays(0);
    both([&](DistStore& store, const Arrays& given) {
      store.push_pull(lists.keys, given, lists.keys, outs, 5);
      store.pull(lists.keys, outs, 0, true);
    });
    lists.expect(outs, 11, "outs apart");
    EXPECT_EQ(lists.job.meeting.seen().back().priority, 5);
    const std::vector<Key> twice{"a", "a", "b"};
    both([&](DistStore& store, const Arrays& given) {
      store.push(twice, Arrays{given[0], given[0], given[1]}, 0);
    });
    lists.expect_stored(0, 22, "two values of a key");
    lists.expect_stored(1, 11, "one of another");
  }
}

// One rank has the second list before the first: both are still the same list to the other ranks.
TEST(DistStore, ListsOfTheSameKeysTravelInTheOrderOfTheCalls) {
  Lists lists;
  for (int times = 0; times < 2; ++times) {
    const Arrays late = lists.arrays(1), ready = lists.arrays(2), first = lists.arrays(10),
                 second = lists.arrays(20), out_late = lists.arrays(0), out_ready = lists.arrays(0);
    const std::array<Var*, 1> writes{late[0].var()};
    Engine::get().push(
        [](const RunContext&) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); },
        {.device = Device::cpu(), .reads = {}, .writes = writes, .name = "Slow"});
    DistStore &one = *lists.job.stores[0], &other = *lists.job.stores[1];
    one.push_pull(lists.keys, late, lists.keys, out_late, 0);
    one.push_pull(lists.keys, ready, lists.keys, out_ready, 0);
    other.push(lists.keys, first, 0);
    other.push(lists.keys, second, 0);
    lists.expect(out_late, 11, "the first lists");
    lists.expect(out_ready, 22, "the second lists");
  }
}

TEST(DistStore, ValuesOfAnotherTypeMayComeInAList) {
  Lists lists;
  const Arrays other = lists.arrays(10);
  for (int times = 0; times < 2; ++times) {
    Arrays mine;
    for (const Shape& shape : lists.shapes)
      mine.push_back(make(shape, std::vector<double>(static_cast<std::size_t>(shape.size()), 0.5)));
    lists.job.stores[0]->push(lists.keys, mine, 0);
    lists.job.stores[1]->push(lists.keys, other, 0);
    for (std::size_t key = 0; key < 4; ++key) lists.expect_stored(key, 10.5f, "converted");
  }
}

TEST(DistStore, AListThatComesAgainRecoversFromFailures) {
  Lists lists;
  const Arrays mine = lists.arrays(1), other = lists.arrays(10);
  lists.sum(mine, other);
  lists.expect(mine, 11, "before");
  lists.job.meeting.failure = std::make_exception_ptr(Error(ErrorCode::kGeneric, "rank 1 is lost"));
  lists.sum(mine, other);
  for (const Arrays& arrays : {mine, other})
    for (const NDArray& array : arrays)
      EXPECT_NE(error_of([&] { array.wait_to_read(); }).find("rank 1 is lost"), std::string::npos);
  lists.job.meeting.failure = nullptr;
  Lists::fill(mine, 1);
  Lists::fill(other, 10);
  lists.sum(mine, other);
  lists.expect(mine, 11, "after");
  lists.expect_stored(3, 11, "after");
}

TEST(DistStore, KeysBeforeOneThatIsRefusedStillTravel) {
  Job job(1);
  job.stores[0]->init(Some{1, 2}, Arrays{filled({2}, 0), filled({2}, 0)});
  EXPECT_NE(error_of([&] {
              job.stores[0]->push(Some{1, 2}, Arrays{filled({2}, 6), filled({3}, 6)}, 0);
            }).find("key 2"),
            std::string::npos);
  EXPECT_EQ(pulled(*job.stores[0], 1, {2})[0], 6);
}

TEST(DistStore, RowsAreSummed) {
  Job job(2);
  const Shape shape{4, 1};
  job.init("e", {make_row_sparse(shape, {1}, {0}), make_row_sparse(shape, {9}, {3})});
  push(*job.stores[0], "e", {make_row_sparse(shape, {1, 2}, {0, 1})});
  push(*job.stores[1], "e", {make_row_sparse(shape, {3}, {1})});
  for (auto& store : job.stores)
    EXPECT_EQ(pulled(*store, "e", shape), (std::vector<float>{1, 5, 0, 0}));
}

TEST(DistStore, OnlyRowsTravel) {
  Job job(2);
  const Shape shape{1000, 2};
  const NDArray empty = make_row_sparse(shape, {}, {});
  job.init("e", {empty, empty});
  Engine::get().wait_for_all();
  const std::size_t before = job.meeting.seen().size();
  push(*job.stores[0], "e", {make_row_sparse(shape, {1, 2, 3, 4}, {7, 500})});
  push(*job.stores[1], "e", {make_row_sparse(shape, {-3, -4}, {500})});
  for (auto& store : job.stores) {
    const std::vector<float> sum = pulled(*store, "e", shape);
    EXPECT_EQ(sum[14], 1);
    EXPECT_EQ(sum[1001], 0);
    EXPECT_EQ(std::count(sum.begin(), sum.end(), 0), 1998);
  }
  int64_t words = 0;
  const std::vector<Meeting::Seen> seen = job.meeting.seen();
  for (std::size_t i = before; i < seen.size(); ++i) words += seen[i].count;
  EXPECT_EQ(words, 2 * (1 + 5)) << "of each rank a size, then a number, two places, two rows";
}

TEST(DistStore, RowsOnTheirWayAreLoggedOnDemand) {
  const auto logged = [](bool verbose) {
    Job job(1);
    job.config.dist_row_sparse_verbose = verbose;
    const Shape shape{4, 1};
    job.init("e", {make_row_sparse(shape, {1}, {0})});
    testing::internal::CaptureStderr();
    push(*job.stores[0], "e", {make_row_sparse(shape, {1}, {0})});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(logged(true).find("rows of key 'e', shape (4,1)"), std::string::npos);
  EXPECT_EQ(logged(false).find("rows of key"), std::string::npos);
}

TEST(DistStore, P3SendsSlicesOfTheConfiguredSize) {
  const auto counts = [](const char* type) {
    Job job(1, type);
    job.config.slice_threshold = 40;
    job.init("a", {filled({100}, 1)});
    push(*job.stores[0], "a", {filled({100}, 2)}, -7);
    EXPECT_EQ(pulled(*job.stores[0], "a", {100}), std::vector<float>(100, 2));
    std::vector<int64_t> result;
    for (const Meeting::Seen& seen : job.meeting.seen())
      if (seen.priority == -7) result.push_back(seen.count);
    return result;
  };
  EXPECT_EQ(counts("dist_sync_p3"), (std::vector<int64_t>{40, 40, 20}));
  EXPECT_EQ(counts("dist_sync"), (std::vector<int64_t>{100}));
}

TEST(DistStore, CompressedSumsAreThoseOfWhatEachRankSent) {
  Job job(3);
  const std::vector<std::pair<std::string_view, std::string_view>> params{{"type", "2bit"},
                                                                          {"threshold", "0.5"}};
  for (auto& store : job.stores) store->set_compression(params);
  const Shape shape{40};  // more than two words
  job.init("a", {filled(shape, 0), filled(shape, 0), filled(shape, 0)});
  const float given[] = {0.75f, 0.25f, -1};
  for (const float expected : {0.0f, 0.5f}) {  // 0.5 + 0 - 0.5, then with the rests 0.5 + 0.5 - 0.5
    for (std::size_t r = 0; r < 3; ++r) push(*job.stores[r], "a", {filled(shape, given[r])});
    for (auto& store : job.stores)
      EXPECT_EQ(pulled(*store, "a", shape), std::vector<float>(40, expected));
  }
}

TEST(DistStore, AFailureOfTheGroupIsThrownByAWait) {
  Job job(1);
  job.init("a", {filled({2}, 0)});
  pulled(*job.stores[0], "a", {2});
  job.meeting.failure = std::make_exception_ptr(Error(ErrorCode::kGeneric, "rank 1 is lost"));
  push(*job.stores[0], "a", {filled({2}, 1)});
  EXPECT_NE(error_of([&] { pulled(*job.stores[0], "a", {2}); }).find("rank 1 is lost"),
            std::string::npos);
  EXPECT_NE(error_of([&] { job.stores[0]->barrier(); }).find("rank 1 is lost"), std::string::npos);
}

TEST(DistStore, WhatItLacksIsAnErrorThatSaysSo) {
  Job job(1);
  EXPECT_NE(error_of([&] { job.stores[0]->send_command(0, ""); }).find("-s 1"), std::string::npos);
  EXPECT_NE(error_of([] { Job asynchronous(1, "dist_async"); }).find("-s 1"), std::string::npos);
}

}  // namespace
}  // namespace mxnet::kvstore
