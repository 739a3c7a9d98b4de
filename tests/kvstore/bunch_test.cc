// SPDX-License-Identifier: Apache-2.0
// Small keys of one call that travel as one, and lists of them that come again.
#include "kvstore/bunch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <thread>

#include "kvstore/jobs.h"
#include "ndarray/sparse_convert.h"
#include "openmp_under_tsan.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)
using Some = std::vector<Key>;
using Arrays = std::vector<NDArray>;

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

TEST(Bunch, AListThatComesAgainSumsWhatIsInItThen) {
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

TEST(Bunch, AListWithOtherArraysIsNoticed) {
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

TEST(Bunch, AnArrayOfAnotherShapeIsRefusedInAListThatIsKnown) {
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
TEST(Bunch, OtherListsThatBeginWithTheSameKeyTravelAsIfTheyWereNew) {
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

TEST(Bunch, LongListsAreCutInTheSamePlacesEachTime) {
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

TEST(Bunch, KnownListsKeepToPrioritiesDirectionsAndDevices) {
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
TEST(Bunch, ListsOfTheSameKeysTravelInTheOrderOfTheCalls) {
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

TEST(Bunch, KeysThatTravelAloneLaterWaitForNoOther) {
  Lists lists;
  const Arrays mine = lists.arrays(1), other = lists.arrays(10);
  for (int times = 0; times < 2; ++times) {
    lists.sum(mine, other);
    lists.expect(mine, times == 0 ? 11 : 22, "in a list");
    DistStore &one = *lists.job.stores[0], &two = *lists.job.stores[1];
    push(one, "a", {mine[0]});
    push(one, "b", {mine[1]});
    push(two, "b", {other[1]});
    push(two, "a", {other[0]});
    for (const std::size_t key : {std::size_t{0}, std::size_t{1}})
      lists.expect_stored(key, times == 0 ? 22 : 44, "alone");
  }
}

TEST(Bunch, ValuesOfAnotherTypeMayComeInAList) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();  // conversions share out their work
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

TEST(Bunch, AListThatComesAgainWithRowsInItIsAnotherList) {
  Lists lists;
  const Arrays other = lists.arrays(10);
  const Arrays mine = lists.arrays(1);
  for (const bool rows : {false, true, false}) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      Arrays given = rank == 0 ? mine : other;
      if (rows) given[1] = cast_storage(given[1], StorageType::kRowSparse);
      lists.job.stores[rank]->push(lists.keys, given, 0);
    }
    for (std::size_t key = 0; key < 4; ++key) lists.expect_stored(key, 11, rows ? "rows" : "dense");
  }
}

TEST(Bunch, AListThatComesAgainRecoversFromFailures) {
  Lists lists;
  const Arrays mine = lists.arrays(1), other = lists.arrays(10);
  lists.sum(mine, other);
  lists.expect(mine, 11, "before");
  lists.travelled();  // on both ranks, so that only what follows fails
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

}  // namespace
}  // namespace mxnet::kvstore
