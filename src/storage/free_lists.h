// SPDX-License-Identifier: Apache-2.0
// Cached blocks by exact capacity, newest first, and all of them by age: a pool takes the newest of
// a size (its pages are warm) and gives back the oldest of any size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/memory_source.h"

namespace mxnet {

struct ReadyEvent;

// A cached block. On a device with streams it may still be in use by work of `stream` until `ready`
// has happened; null = anybody may have it at once, which is all that host memory ever is.
struct FreeBlock {
  RawBlock raw;
  NativeStream* stream = nullptr;
  ReadyEvent* ready = nullptr;
};

// Not thread-safe. Every call is O(1), expected, but for the growth in push.
//
// Invariants:
//   1. A node is on the list of spare nodes, or on both the age list and its bin's list.
//   2. Both lists are ordered by the time of push, newest first.
//   3. No bin is ever removed while a neighbour may be probed through it; empty bins go when the
//      table is rebuilt.
class FreeLists {
 public:
  FreeLists();
  // `stamp` dates the block, never decreasing. Throws std::bad_alloc and leaves all as it was.
  void push(const FreeBlock& block, uint64_t stamp);

  // Takes the newest block of `capacity` that `fits` accepts among the first few; false if none.
  template <class Fits>
  bool pop(std::size_t capacity, const Fits& fits, FreeBlock* out) {
    Bin& bin = bins_[probe(capacity)];
    uint32_t node = bin.newest;  // kNone in an empty bin
    for (int step = 0; node != kNone && step < kMaxSteps; ++step) {
      if (fits(nodes_[node].block)) {
        take(node, bin, out);
        return true;
      }
      node = nodes_[node].older_same;
    }
    return false;
  }
  bool pop(std::size_t capacity, FreeBlock* out) {
    Bin& bin = bins_[probe(capacity)];
    if (bin.newest == kNone) return false;
    take(bin.newest, bin, out);
    return true;
  }
  bool pop_oldest(FreeBlock* out);

  bool empty() const { return oldest_ == kNone; }
  uint64_t oldest_stamp() const { return nodes_[oldest_].stamp; }  // REQUIRES: !empty()
  std::size_t bytes() const { return bytes_; }
  std::size_t count(std::size_t capacity) const { return bins_[probe(capacity)].count; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  // Beyond so many blocks in use elsewhere a look is not worth it.
  static constexpr int kMaxSteps = 16;

  struct Node {
    FreeBlock block;
    uint64_t stamp;
    uint32_t older_same, newer_same;  // within the bin
    uint32_t older, newer;            // among all
  };
  // Open addressing, linear probing; capacity 0 marks a place that was never used.
  struct Bin {
    std::size_t capacity = 0;
    uint32_t newest = kNone;
    uint32_t count = 0;
  };

  // The place of `capacity`, or the free place where it would go.
  std::size_t probe(std::size_t capacity) const {
    // Spreads multiples of a page over the top bits.
    constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
    std::size_t place = (capacity * kGolden) >> shift_;
    while (bins_[place].capacity != capacity && bins_[place].capacity != 0) {
      place = (place + 1) & (bins_.size() - 1);
    }
    return place;
  }
  void take(uint32_t node, Bin& bin, FreeBlock* out);
  void rebuild();

  std::vector<Node> nodes_;
  std::vector<Bin> bins_;  // a power of two, at most half used
  int shift_;              // 64 - log2(bins_.size())
  std::size_t used_bins_ = 0;
  uint32_t spare_ = kNone;  // linked by `older`
  uint32_t newest_ = kNone, oldest_ = kNone;
  std::size_t bytes_ = 0;
};

}  // namespace mxnet
