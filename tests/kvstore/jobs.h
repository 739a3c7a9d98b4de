// SPDX-License-Identifier: Apache-2.0
// Distributed stores without a network: ranks are stores in one process, whose group adds up what
// they give.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/config.h"
#include "base/lock.h"
#include "kvstore/dist_store.h"
#include "kvstore/stores.h"

namespace mxnet::testing_kvstore {

using kvstore::CollectiveKind;
using kvstore::CollectiveRequest;
using kvstore::DistStore;

// Where the ranks meet. Thread-safe.
class Meeting {
 public:
  explicit Meeting(int ranks) : ranks_(ranks) {}

  int ranks() const { return ranks_; }
  void arrive(int rank, CollectiveRequest request) {
    Round all;
    {
      const MutexLock lock(mutex_);
      seen_.push_back({request.name, request.count, request.priority});
      // As in a group of processes: a first value and a sum of one key may come in any order, and
      // the next request of a rank before the others have given theirs for this one.
      auto& rounds = waiting_[{request.store, request.kind, request.name}];
      const auto round = std::find_if(rounds.begin(), rounds.end(),
                                      [rank](const auto& given) { return !given.contains(rank); });
      Round& mine = round == rounds.end() ? rounds.emplace_back() : *round;
      mine.emplace(rank, std::move(request));
      if (static_cast<int>(mine.size()) < ranks_) return;
      all.swap(mine);
      rounds.pop_front();  // rounds fill in order
    }
    for (auto& [other, given] : all) combine(all.at(0), given, other);
    for (auto& [other, given] : all) {
      const std::size_t whole =
          bytes(given) * (given.kind == CollectiveKind::kGather ? all.size() : 1);
      if (given.kind != CollectiveKind::kBarrier && other != 0)
        std::memcpy(given.data, all.at(0).data, whole);
    }
    // Not before all have it: who is done may write at once.
    for (const auto& [other, given] : all) given.done(failure);
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
  using Round = std::map<int, CollectiveRequest>;  // by rank

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
  std::map<std::tuple<int32_t, CollectiveKind, std::string>, std::deque<Round>> waiting_
      MX_GUARDED_BY(mutex_);
  std::vector<Seen> seen_ MX_GUARDED_BY(mutex_);
};

class Member final : public kvstore::ProcessGroup {
 public:
  Member(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  bool is_server() const override { return false; }
  int rank() const override { return rank_; }
  int size() const override { return meeting_.ranks(); }
  int servers() const override { return 0; }
  void call(kvstore::ServerCall) override { FAIL() << "there are no servers"; }
  bool next_call(kvstore::ServedCall&) override { return false; }
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
          std::make_unique<DistStore>(kvstore::parse_store_type(type), config, *members.back()));
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

}  // namespace mxnet::testing_kvstore
