// SPDX-License-Identifier: Apache-2.0
// Bytes in use and their peak, counted by many threads without a contended atomic: each thread
// keeps its own share, and hands it to the common meter when it has risen by a grain. What it frees
// it keeps for itself, because the same thread mostly takes it again: a steady loop writes nothing
// that another thread reads. So the meter may stand too high, never too low by more than a grain a
// thread; a rise above the peak is therefore confirmed by settling all shares first.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace mxnet {

// Thread-safe. `value` is exact once every share is settled (readers do that first). `peak` is
// exact while one thread allocates; each further thread may hide up to one grain, 1/32 of the peak
// so far, but at least kMinGrain.
class Meter {
 public:
  static constexpr int64_t kMinGrain = 1 << 20;

  // One thread's part since it was last settled; guarded by whoever holds it (a lane's lock).
  class Share {
   public:
    // True if the meter now seems to stand above its peak: the caller settles all shares.
    bool add(Meter& meter, int64_t bytes, int64_t grain) {
      net_ += bytes;
      high_ = std::max(high_, net_);
      if (net_ < grain) [[likely]]
        return false;
      high_ = 0;
      return meter.rise(std::exchange(net_, 0));
    }
    bool moved() const { return net_ != 0 || high_ != 0; }
    // `alone`: no other share has moved, so that the highest point of this one is a peak of all.
    void settle(Meter& meter, bool alone) {
      meter.settle(std::exchange(net_, 0), alone ? high_ : 0);
      high_ = 0;
    }

   private:
    int64_t net_ = 0;
    int64_t high_ = 0;  // the largest that net_ has been
  };

  // Relaxed, here and below: counters, which order nothing.
  int64_t value() const { return value_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  // By how much a share may rise before it is handed over. A part of a whole (a tag's bytes) goes
  // by the whole's grain.
  int64_t grain() const { return grain_.load(std::memory_order_relaxed); }
  void reset_peak() { peak_.store(value(), std::memory_order_relaxed); }
  // The peak again, but one that fades: by as much as its reader says, and not below what is in
  // use. Users do not reset it.
  int64_t recent_peak() const { return recent_.load(std::memory_order_relaxed); }
  void fade(int64_t bytes) {
    int64_t now = recent_peak();  // where somebody raises it meanwhile, it has not faded
    recent_.compare_exchange_strong(now, std::min(now, std::max(value(), now - bytes)),
                                    std::memory_order_relaxed);
  }
  // After all shares have been settled.
  void raise_peak() { raise_peak(value()); }

 private:
  bool rise(int64_t net) {
    return value_.fetch_add(net, std::memory_order_relaxed) + net > std::min(peak(), recent_peak());
  }
  void settle(int64_t net, int64_t high) {
    const int64_t before = value_.fetch_add(net, std::memory_order_relaxed);
    if (high > 0) raise_peak(before + high);
  }
  void raise_peak(int64_t seen) {
    raise(recent_, seen);
    const int64_t peak = raise(peak_, seen);
    const int64_t grain = std::max(kMinGrain, peak / 32);
    if (grain > this->grain()) grain_.store(grain, std::memory_order_relaxed);
  }

  static int64_t raise(std::atomic<int64_t>& most, int64_t seen) {
    int64_t now = most.load(std::memory_order_relaxed);
    while (seen > now && !most.compare_exchange_weak(now, seen, std::memory_order_relaxed)) {
    }
    return std::max(now, seen);
  }

  // Read at each operation and hardly ever written: apart from what rises write.
  alignas(64) std::atomic<int64_t> grain_{kMinGrain};
  alignas(64) std::atomic<int64_t> value_{0};
  std::atomic<int64_t> peak_{0}, recent_{0};
};

}  // namespace mxnet
