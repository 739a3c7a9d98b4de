// SPDX-License-Identifier: Apache-2.0
// Bytes in use and their peak, counted by many threads without a contended atomic: each thread
// keeps its own share and folds it into the common meter only when it has moved by a grain.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

namespace mxnet {

// Thread-safe. `value` is exact once every share is folded (readers do that first). `peak` is exact
// while one thread allocates; each further thread may hide up to one grain, 1/32 of the peak so
// far, but at least kMinGrain.
class Meter {
 public:
  static constexpr int64_t kMinGrain = 1 << 20;

  // One thread's part since its last fold; guarded by whoever holds it (a lane's lock).
  class Share {
   public:
    void add(Meter& meter, int64_t bytes, int64_t grain) {
      net_ += bytes;
      high_ = std::max(high_, net_);
      if (net_ >= grain || -net_ >= grain) [[unlikely]]
        fold(meter);
    }
    void fold(Meter& meter) {
      meter.fold(net_, high_);
      net_ = high_ = 0;
    }

   private:
    int64_t net_ = 0;
    int64_t high_ = 0;  // the largest that net_ has been
  };

  // Relaxed, here and below: counters, which order nothing.
  int64_t value() const { return value_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  // By how much a share may move before it is folded. A part of a whole (a tag's bytes) goes by the
  // whole's grain.
  int64_t grain() const { return grain_.load(std::memory_order_relaxed); }
  void reset_peak() { peak_.store(value(), std::memory_order_relaxed); }

 private:
  void fold(int64_t net, int64_t high) {
    const int64_t seen = value_.fetch_add(net, std::memory_order_relaxed) + high;
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (seen > peak && !peak_.compare_exchange_weak(peak, seen, std::memory_order_relaxed)) {
    }
    const int64_t grain = std::max(kMinGrain, std::max(peak, seen) / 32);
    if (grain > this->grain()) grain_.store(grain, std::memory_order_relaxed);
  }

  // Read at each operation and hardly ever written: apart from what folding writes.
  alignas(64) std::atomic<int64_t> grain_{kMinGrain};
  alignas(64) std::atomic<int64_t> value_{0};
  std::atomic<int64_t> peak_{0};
};

}  // namespace mxnet
