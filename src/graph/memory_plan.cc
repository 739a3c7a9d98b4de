// SPDX-License-Identifier: Apache-2.0
// Interval packing: greedy placement into the tightest gap, in several orders, and matching of
// freed slots as the fall-back whose cost grows with n log n only.
#include "graph/memory_plan.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>

#include "base/stable_order.h"

namespace mxnet {
namespace {

// Above this many tensors the quadratic search for gaps would cost seconds.
constexpr std::size_t kFewTensors = 6000;

using Intervals = std::span<const MemoryInterval>;

bool sizes_match(std::size_t a, std::size_t b, std::size_t range) {
  return std::max(a, b) <= std::min(a, b) * range;
}

// Places intervals one after the other, each into the smallest gap that holds it. What compiling a
// training graph waits for: the loops over those that are placed go through words of one kind each,
// and conflicts, which follow no pattern, are found before anybody branches on them.
class BestFit {
 public:
  BestFit(Intervals intervals, std::size_t range) : intervals_(intervals), range_(range) {
    for (const MemoryInterval& interval : intervals) sizes_.push_back(arena_bytes(interval.bytes));
    std::ranges::sort(sizes_);
    const auto repeated = std::ranges::unique(sizes_);
    sizes_.erase(repeated.begin(), repeated.end());
  }

  // None as soon as it is clear that it takes `limit` bytes or more.
  std::optional<Packing> run(std::span<const std::size_t> order, std::size_t limit) {
    placed_ = {};
    Packing packing{std::vector<std::size_t>(intervals_.size()), 0};
    for (std::size_t i : order) {
      const MemoryInterval& interval = intervals_[i];
      const std::size_t wanted = arena_bytes(interval.bytes), begin = place(interval, wanted);
      packing.offsets[i] = begin;
      packing.bytes = std::max(packing.bytes, begin + wanted);
      if (packing.bytes >= limit) return std::nullopt;
    }
    return packing;
  }

 private:
  struct Placed {
    std::vector<std::size_t> begin, end;     // in order of begin
    std::vector<int> first, last, size;      // when; how large, as position in sizes_
    std::vector<unsigned char> conflicting;  // with the one that is to be placed: 1
  };
  static constexpr std::size_t kBytes = sizeof(uint64_t);

  // Position of the first size that is not less.
  int position_of(std::size_t bytes) const {
    return static_cast<int>(std::ranges::lower_bound(sizes_, bytes) - sizes_.begin());
  }

  void find_conflicts(const MemoryInterval& interval, std::size_t wanted) {
    // The sizes with which sizes_match().
    const int smallest = position_of((wanted + range_ - 1) / range_);
    const int behind = position_of(wanted * range_ + 1);
    const std::size_t count = placed_.begin.size();
    placed_.conflicting.resize(count + kBytes);
    const int *const first = placed_.first.data(), *const last = placed_.last.data(),
                     *const size = placed_.size.data();
    unsigned char* const conflicting = placed_.conflicting.data();
    for (std::size_t p = 0; p < count; ++p) {
      const int meets =
          static_cast<int>(first[p] <= interval.last) & static_cast<int>(interval.first <= last[p]);
      const int differs =
          static_cast<int>(size[p] < smallest) | static_cast<int>(size[p] >= behind);
      conflicting[p] = static_cast<unsigned char>(meets | differs);
    }
    std::fill_n(conflicting + count, kBytes, 0);
  }

  std::size_t place(const MemoryInterval& interval, std::size_t wanted) {
    find_conflicts(interval, wanted);
    std::size_t end = 0;  // of the conflicting ones so far
    std::size_t best = 0, best_gap = SIZE_MAX;
    for (std::size_t p = 0; p < placed_.begin.size() && best_gap > wanted; p += kBytes) {
      uint64_t some;
      std::memcpy(&some, placed_.conflicting.data() + p, kBytes);
      for (; some != 0; some &= some - 1) {
        const std::size_t at = p + static_cast<std::size_t>(std::countr_zero(some)) / 8;
        const std::size_t begin = placed_.begin[at];
        if (begin >= end + wanted && begin - end < best_gap) {
          best = end;
          best_gap = begin - end;
        }
        end = std::max(end, placed_.end[at]);
      }
    }
    if (best_gap == SIZE_MAX) best = end;
    const auto at = std::ranges::upper_bound(placed_.begin, best) - placed_.begin.begin();
    const auto insert = [at](auto& list, auto value) { list.insert(list.begin() + at, value); };
    insert(placed_.begin, best);
    insert(placed_.end, best + wanted);
    insert(placed_.first, interval.first);
    insert(placed_.last, interval.last);
    insert(placed_.size, position_of(wanted));
    return best;
  }

  const Intervals intervals_;
  const std::size_t range_;
  std::vector<std::size_t> sizes_;  // of all, each once
  Placed placed_;
};

// Slots of memory that tensors take over whole, growing them if need be; the sum of the slots is
// the arena.
class SlotMatching {
 public:
  SlotMatching(Intervals intervals, std::size_t range) : intervals_(intervals), range_(range) {}

  Packing run(std::span<const std::size_t> by_first) {
    std::vector<int> slot_of(intervals_.size());
    std::multimap<int, int> ends;  // last step -> slot
    for (std::size_t i : by_first) {
      const MemoryInterval& interval = intervals_[i];
      while (!ends.empty() && ends.begin()->first < interval.first) {
        const int slot = ends.begin()->second;
        free_.emplace(sizes_[static_cast<std::size_t>(slot)], slot);
        ends.erase(ends.begin());
      }
      const int slot = take(arena_bytes(interval.bytes));
      slot_of[i] = slot;
      ends.emplace(interval.last, slot);
    }
    std::vector<std::size_t> starts(sizes_.size() + 1);
    std::partial_sum(sizes_.begin(), sizes_.end(), starts.begin() + 1);
    Packing packing{std::vector<std::size_t>(intervals_.size()), starts.back()};
    for (std::size_t i = 0; i < slot_of.size(); ++i)
      packing.offsets[i] = starts[static_cast<std::size_t>(slot_of[i])];
    return packing;
  }

 private:
  int take(std::size_t bytes) {
    auto at = free_.lower_bound(bytes);  // the smallest that is large enough
    if (at == free_.end() || !sizes_match(at->first, bytes, range_)) {
      if (at == free_.begin()) return make(bytes);
      --at;  // else the largest smaller one, which grows
      if (!sizes_match(at->first, bytes, range_)) return make(bytes);
    }
    const int slot = at->second;
    free_.erase(at);
    std::size_t& size = sizes_[static_cast<std::size_t>(slot)];
    size = std::max(size, bytes);
    return slot;
  }
  int make(std::size_t bytes) {
    sizes_.push_back(bytes);
    return static_cast<int>(sizes_.size()) - 1;
  }

  const Intervals intervals_;
  const std::size_t range_;
  std::vector<std::size_t> sizes_;
  std::multimap<std::size_t, int> free_;  // size -> slot
};

// Places of intervals by descending key; ties in order of place.
template <class Key>
std::vector<std::size_t> sorted_by(Intervals intervals, Key key) {
  std::vector<double> keys;
  keys.reserve(intervals.size());
  for (const MemoryInterval& interval : intervals) keys.push_back(key(interval));
  return places_by_descending(keys);
}

int earliness(const MemoryInterval& interval) { return -interval.first; }

// Orders of placement that win on different kinds of graphs.
std::vector<std::vector<std::size_t>> placement_orders(Intervals intervals) {
  using Interval = MemoryInterval;
  const auto bytes = [](const Interval& i) { return static_cast<double>(i.bytes); };
  const auto length = [](const Interval& i) { return static_cast<double>(i.last - i.first + 1); };
  return {sorted_by(intervals, bytes),
          sorted_by(intervals, [&](const Interval& i) { return bytes(i) * length(i); }),
          sorted_by(intervals, length), sorted_by(intervals, earliness),
          sorted_by(intervals, [](const Interval& i) { return i.last; })};
}

Packing without_sharing(Intervals intervals) {
  Packing packing;
  for (const MemoryInterval& interval : intervals) {
    packing.offsets.push_back(packing.bytes);
    packing.bytes += arena_bytes(interval.bytes);
  }
  return packing;
}

}  // namespace

std::size_t most_live_bytes(Intervals intervals) {
  std::map<int, std::ptrdiff_t> changes;  // by step
  for (const MemoryInterval& interval : intervals) {
    const auto bytes = static_cast<std::ptrdiff_t>(arena_bytes(interval.bytes));
    changes[interval.first] += bytes;
    changes[interval.last + 1] -= bytes;
  }
  std::ptrdiff_t live = 0, most = 0;
  for (const auto& [step, change] : changes) most = std::max(most, live += change);
  return static_cast<std::size_t>(most);
}

Packing pack_intervals(Intervals intervals, const PackingOptions& options) {
  Packing best = without_sharing(intervals);
  if (options.match_range == 0) return best;
  const std::size_t least = most_live_bytes(intervals);
  const std::vector<std::size_t> by_first = sorted_by(intervals, earliness);
  std::vector<std::vector<std::size_t>> orders;
  if (intervals.size() <= kFewTensors) orders = placement_orders(intervals);
  const auto try_range = [&](std::size_t range) {
    if (best.bytes > least)
      if (Packing slots = SlotMatching(intervals, range).run(by_first); slots.bytes < best.bytes)
        best = std::move(slots);
    if (best.bytes == least || orders.empty()) return;
    BestFit best_fit(intervals, range);
    for (const std::vector<std::size_t>& order : orders)
      if (best.bytes > least)
        if (auto packing = best_fit.run(order, best.bytes)) best = *std::move(packing);
  };
  const auto range = static_cast<std::size_t>(options.match_range);
  try_range(range);
  for (std::size_t smaller = 1; options.search_match_range && smaller < range; smaller *= 2)
    try_range(smaller);
  return best;
}

}  // namespace mxnet
