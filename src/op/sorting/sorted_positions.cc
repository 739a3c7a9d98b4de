// SPDX-License-Identifier: Apache-2.0
// A position and a key of up to 32 bits are one number, which vectors sort. Of longer keys as many
// of the first bits that differ anywhere are sorted as fit beside a position, and then, where
// several share those, the others.
#include "op/sorting/sorted_positions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "base/lock.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "op/sorting/vector_sort.h"

namespace mxnet {
namespace {

// Up to so many elements are sorted by insertion, which has done before the other sorts are called.
template <class T>
constexpr int64_t kFew = sizeof(T) == 8 ? 8 : 4;

template <class T>
const uint32_t* few_positions(const T* values, int64_t n, SortKey<T> flip, uint32_t* to) {
  std::array<SortKey<T>, kFew<T>> keys;
  for (int64_t i = 0; i < n; ++i) {
    const SortKey<T> key = to_key(values[i], flip);
    int64_t place = i;
    for (; place > 0 && keys[static_cast<std::size_t>(place - 1)] > key; --place) {
      keys[static_cast<std::size_t>(place)] = keys[static_cast<std::size_t>(place - 1)];
      to[place] = to[place - 1];
    }
    keys[static_cast<std::size_t>(place)] = key;
    to[place] = static_cast<uint32_t>(i);
  }
  return to;
}

// Keys of a byte are counted, unless there are fewer of them than counts by far, or so few that
// vectors sort them sooner; where those of each value begin follows.
constexpr int64_t kCountedFrom = 48, kCountedBesideVectors = 256;
template <class T>
const uint32_t* counted_positions(const T* values, int64_t n, SortKey<T> flip, uint32_t* to) {
  std::array<uint32_t, 256> places{};
  for (int64_t i = 0; i < n; ++i) ++places[to_key(values[i], flip)];
  uint32_t before = 0;
  for (uint32_t& place : places) before += std::exchange(place, before);
  for (int64_t i = 0; i < n; ++i) to[places[to_key(values[i], flip)]++] = static_cast<uint32_t>(i);
  return to;
}

// Keys of one or two bytes in front of their positions are numbers of 32 bits, which vectors sort
// twice as fast as those of 64. Null where positions need more bits, or there are no such vectors.
template <class T>
const uint32_t* short_key_positions(const T* values, int64_t n, SortKey<T> flip, uint32_t* to) {
  constexpr int kBits = 32 - 8 * static_cast<int>(sizeof(T));
  if (n > int64_t{1} << kBits || !sorts_by_vectors()) return nullptr;
  for (int64_t i = 0; i < n; ++i) {
    asm("");  // vectors gain nothing beside the sort
    const uint32_t key = to_key(values[i], flip);
    to[i] = key << kBits | static_cast<uint32_t>(i);
  }
  sort_by_vectors<uint32_t>(to, n, 0);
  constexpr uint32_t kPosition = (uint32_t{1} << kBits) - 1;
  for (int64_t i = 0; i < n; ++i) to[i] &= kPosition;
  return to;
}

// to[i] = at(i), into memory that `at` does not read.
template <class At>
const uint32_t* write_positions(int64_t n, uint32_t* to, const At& at) {
  parallel_for(n, cost_of_moving(3 * sizeof(*to)), [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) to[i] = at(i);
  });
  return to;
}

// So few are looked at once more before their runs are, without a branch for each.
constexpr int64_t kFewItems = 1024;

// Elementary operations an item that looking for runs counts for.
constexpr double kRunCost = 2.0;

// Sorts each run of items that share a key again, by rest(position), which has as many bits as a
// position at most.
template <class Rest>
void sort_runs(uint64_t* items, uint64_t* spare, int64_t n, int bits, const Rest& rest) {
  const uint64_t position = (uint64_t{1} << bits) - 1;
  for (int64_t i = 0, end; i < n; i = end) {
    const uint64_t key = items[i] >> bits;
    for (end = i + 1; end < n && items[end] >> bits == key;) ++end;
    if (end - i == 1) continue;
    for (int64_t j = i; j < end; ++j) {
      const uint64_t at = items[j] & position;
      items[j] = rest(at) << bits | at;
    }
    sort_keys(items + i, spare + i, end - i);
  }
}

// The same, shared among threads where runs end.
template <class Rest>
void sort_all_runs(uint64_t* items, uint64_t* spare, int64_t n, int bits, const Rest& rest) {
  const int64_t parts = threads_for(n, kRunCost);
  std::vector<int64_t> bounds{0};
  bounds.reserve(static_cast<std::size_t>(parts + 1));
  for (int64_t part = 1; part <= parts; ++part) {
    int64_t at = std::max(bounds.back(), n * part / parts);
    while (at > 0 && at < n && items[at] >> bits == items[at - 1] >> bits) ++at;
    bounds.push_back(at);
  }
  parallel_for(
      parts, kRunCost * static_cast<double>(n) / static_cast<double>(parts),
      [&](int64_t first, int64_t last) {
        const int64_t begin = bounds[static_cast<std::size_t>(first)];
        const int64_t end = bounds[static_cast<std::size_t>(last)];
        sort_runs(items + begin, spare + begin, end - begin, bits, rest);
      },
      1);
}

// Of all keys.
template <class T>
KeyRange whole_range(const T* values, int64_t n, uint64_t flip) {
  KeyRange whole = range_of(values, 1, flip);
  Mutex mutex;
  parallel_for(n, cost_of_moving(sizeof(T)), [&](int64_t first, int64_t last) {
    const KeyRange part = range_of(values + first, last - first, flip);
    const MutexLock lock(mutex);
    whole.join(part);
  });
  return whole;
}

template <class T>
const uint32_t* long_key_positions(const T* values, int64_t n, uint64_t flip, uint64_t* items) {
  uint64_t* const spare = items + n;
  const KeyRange range = whole_range(values, n, flip);
  const int bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(n - 1)));
  const int width = static_cast<int>(std::bit_width(range.most - range.least));
  const int dropped = std::max(0, width - (64 - bits));
  parallel_for(n, cost_of_moving(2 * sizeof(T)), [&](int64_t first, int64_t last) {
    keyed_above(values + first, first, items + first, last - first, flip, range.least, dropped,
                bits);
  });
  sort_keys(items, spare, n);
  // Numbers with few digits have the same last bits.
  const uint64_t lower = (uint64_t{1} << dropped) - 1;
  if ((range.varying & lower) != 0 && (n > kFewItems || neighbours_share_keys(items, n, bits))) {
    sort_all_runs(items, spare, n, bits,
                  [&](uint64_t at) { return (to_key(values[at], flip) - range.least) & lower; });
  }
  const uint64_t position = (uint64_t{1} << bits) - 1;
  return write_positions(n, reinterpret_cast<uint32_t*>(spare),
                         [=](int64_t i) { return static_cast<uint32_t>(items[i] & position); });
}

}  // namespace

template <class T>
const uint32_t* sorted_positions(const T* values, int64_t n, SortKey<T> flip,
                                 Keyed<SortKey<T>>* room) {
  if (n <= kFew<T>) return few_positions(values, n, flip, reinterpret_cast<uint32_t*>(room));
  if constexpr (sizeof(T) == 8) {
    static_assert(sizeof(*room) == 2 * sizeof(uint64_t));
    return long_key_positions(values, n, flip, reinterpret_cast<uint64_t*>(room));
  } else {
    if constexpr (sizeof(T) == 1) {
      if (n >= (sorts_by_vectors() ? kCountedBesideVectors : kCountedFrom))
        return counted_positions(values, n, flip, reinterpret_cast<uint32_t*>(room));
    }
    if constexpr (sizeof(T) <= 2) {
      const uint32_t* const sorted =
          short_key_positions(values, n, flip, reinterpret_cast<uint32_t*>(room));
      if (sorted != nullptr) return sorted;
    }
    keyed_of(values, room, n, flip);
    sort_keyed(room, room + n, n);
    return write_positions(n, reinterpret_cast<uint32_t*>(room + n),
                           [=](int64_t i) { return room[i].at; });
  }
}

#define MX_INSTANTIATE(T) \
  template const uint32_t* sorted_positions(const T*, int64_t, SortKey<T>, Keyed<SortKey<T>>*);
MX_EACH_SORTED_TYPE(MX_INSTANTIATE)
#undef MX_INSTANTIATE

}  // namespace mxnet
