// SPDX-License-Identifier: Apache-2.0
// The one carrier of asynchronous errors: which variables hold which exception, and which
// exceptions nobody has seen yet.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/lock.h"
#include "engine/var.h"

namespace mxnet::engine {

// One exception, shared by all variables that carry it.
struct Failure {
  std::exception_ptr error;
  bool shown = false;  // some wait has rethrown it; guarded by Failures' mutex
};
using FailureRef = std::shared_ptr<Failure>;

// Thread-safe. While nothing has failed, an operation pays one load (any).
//
// Order: an operation records its failure before it releases the variables it writes, so whoever is
// granted such a variable later finds it.
class Failures {
 public:
  // Relaxed: what one must find was recorded before the grant of the variable that carries it, and
  // the grant acquires.
  bool any() const { return carriers_.load(std::memory_order_relaxed) != 0; }

  // The failure of the first variable, in the caller's order, that carries one; null if none does.
  FailureRef find(std::span<Var* const> reads, std::span<Var* const> writes);
  // A new failure, carried by `writes` from now on.
  void record(std::exception_ptr error, std::span<Var* const> writes);
  // A failure travels on. A variable that carries one already keeps it.
  void spread(const FailureRef& failure, std::span<Var* const> writes);
  // What these carry is no matter any more.
  void forget(std::span<Var* const> vars);

  // The exception that `var` carries, or null; it goes on carrying it.
  std::exception_ptr carried(const Var* var);
  // For a wait on `var`: the exception it carries or null; it carries none afterwards.
  std::exception_ptr take(Var* var);
  // For a wait for all: the first exception that no wait has shown, or null. Clears everything.
  std::exception_ptr take_all();

  void lock_for_fork() MX_NO_THREAD_SAFETY_ANALYSIS { mutex_.lock(); }
  void unlock_after_fork() MX_NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock(); }

 private:
  // Only the first ones can ever be shown by wait_for_all; the bound keeps a program that never
  // waits from hoarding.
  static constexpr std::size_t kMostUnseen = 256;

  void carry(Var* var, const FailureRef& failure) MX_REQUIRES(mutex_);
  void clear(Var* var) MX_REQUIRES(mutex_);

  Mutex mutex_;
  std::atomic<uint64_t> carriers_{0};  // = carrying_.size()
  std::unordered_set<Var*> carrying_ MX_GUARDED_BY(mutex_);
  std::vector<FailureRef> unseen_ MX_GUARDED_BY(mutex_);  // oldest first
};

// The exception with the operation's name in its message, where its type has room for it: an Error
// without a tag and the standard library's errors. Types and codes are kept; others are passed on
// as they are.
std::exception_ptr name_error(std::exception_ptr error, const char* name) noexcept;

}  // namespace mxnet::engine
