// SPDX-License-Identifier: Apache-2.0
// Plans of a library that calls share: kept by what they are for, and used by one call at a time.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/lock.h"

namespace mxnet::cuda {

// All numbers that a plan depends on, in an order of its owner's. Those of a call stand in a vector
// that its thread keeps, so that a plan that is there is found without asking for memory.
using PlanKey = std::vector<int64_t>;

// What calls on several threads share although only one may use it at a time: cuDNN writes into a
// plan while it enqueues its kernels. They wait for the enqueueing, not for the kernels.
template <class T>
class InTurns {
 public:
  template <class... Args>
  explicit InTurns(Args&&... args) : value_(std::forward<Args>(args)...) {}
  InTurns(const InTurns&) = delete;
  InTurns& operator=(const InTurns&) = delete;

  // What fn(value) returns.
  template <class F>
  auto use(const F& fn) const {
    MutexLock lock(turn_);
    return fn(value_);
  }

 private:
  mutable Mutex turn_;
  const T value_ MX_GUARDED_BY(turn_);
};

// At most so many plans; where there are more, all are made anew, by and by. Plan is cheap to copy.
// Thread-safe.
template <class Plan>
class PlanTable {
 public:
  explicit PlanTable(std::size_t most) : most_(most) {}

  // The plan under this key: where there is none, what make() makes. One is made at a time, and
  // nobody gets another meanwhile, so that the times that make() takes are its own.
  template <class Make>
  Plan get(const PlanKey& key, const Make& make) {
    MutexLock lock(mutex_);
    auto at = plans_.find(key);
    if (at == plans_.end()) {
      Plan made = make();
      if (plans_.size() >= most_) plans_.clear();
      at = plans_.emplace(key, std::move(made)).first;
    }
    return at->second;
  }

  // The plan under this key if there is one: it is the caller's, whatever the table forgets then.
  std::optional<Plan> find(const PlanKey& key) {
    MutexLock lock(mutex_);
    const auto at = plans_.find(key);
    if (at == plans_.end()) return std::nullopt;
    return at->second;
  }

 private:
  const std::size_t most_;
  Mutex mutex_;
  std::map<PlanKey, Plan> plans_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet::cuda
