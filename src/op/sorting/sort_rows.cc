// SPDX-License-Identifier: Apache-2.0
// Keys of 32 and 64 bits are sorted by vectors where the CPU has wide ones, and so are a few short
// ones; others, and what that does not take, digit by digit from the lowest (radix sort), which
// needs neither comparisons nor branches, or, if there are few, by comparisons. Many short keys are
// only counted.
#include "op/sorting/sort_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "op/sorting/vector_sort.h"

namespace mxnet {
namespace {

// Below this the histograms of a radix sort cost more than comparisons; from kLong on wide digits,
// whose histograms are larger, save passes.
constexpr int64_t kShort = 64;
constexpr int64_t kLong = 8192;

template <class Item>
struct KeyOf;
template <class K>
struct KeyOf<Keyed<K>> {
  using type = K;
  static K get(const Keyed<K>& item) { return item.key; }
};
#define MX_PLAIN_KEY(K)                   \
  template <>                             \
  struct KeyOf<K> {                       \
    using type = K;                       \
    static K get(K item) { return item; } \
  };
MX_PLAIN_KEY(uint8_t)
MX_PLAIN_KEY(uint16_t)
MX_PLAIN_KEY(uint32_t)
MX_PLAIN_KEY(uint64_t)
#undef MX_PLAIN_KEY

template <int kBits, class Item>
void radix_sort(Item* items, Item* spare, int64_t n) {
  using Key = KeyOf<Item>;
  using K = typename Key::type;
  constexpr int kDigits = (static_cast<int>(sizeof(K)) * 8 + kBits - 1) / kBits;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  constexpr K kMask = static_cast<K>(kBuckets - 1);
  std::array<std::array<uint32_t, kBuckets>, kDigits> counts;
  std::memset(&counts, 0, sizeof(counts));
  for (int64_t i = 0; i < n; ++i) {
    const K key = Key::get(items[i]);
    for (int d = 0; d < kDigits; ++d)
      ++counts[static_cast<std::size_t>(d)][static_cast<std::size_t>(key >> (d * kBits) & kMask)];
  }
  Item* from = items;
  Item* to = spare;
  for (int d = 0; d < kDigits; ++d) {
    auto& count = counts[static_cast<std::size_t>(d)];
    const auto digit = [d](const Item& item) {
      return static_cast<std::size_t>(Key::get(item) >> (d * kBits) & kMask);
    };
    if (count[digit(from[0])] == static_cast<uint32_t>(n)) continue;  // all alike: nothing to do
    uint32_t start = 0;
    for (uint32_t& c : count) start += std::exchange(c, start);
    for (int64_t i = 0; i < n; ++i) to[count[digit(from[i])]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::memcpy(items, from, static_cast<std::size_t>(n) * sizeof(Item));
}

template <class Item>
void sort_items(Item* items, Item* spare, int64_t n) {
  if (n < kShort) {
    std::sort(items, items + n);
  } else if (n < kLong || sizeof(typename KeyOf<Item>::type) == 1) {
    radix_sort<8>(items, spare, n);
  } else {
    radix_sort<11>(items, spare, n);  // 32 bits in three passes
  }
}

// Each value as often as it occurs. For keys of so few bits that a table holds all values. Bytes in
// turns in four tables: a count waits for the one before of the same value, by how much depends on
// where its instructions happen to lie.
template <class K>
void count_and_write(K* keys, int64_t n) {
  constexpr std::size_t kValues = std::size_t{1} << (8 * sizeof(K));
  constexpr int64_t kTables = sizeof(K) == 1 ? 4 : 1;
  const auto counts = std::make_unique<uint32_t[]>(kTables * kValues);
  int64_t i = 0;
  for (; i + kTables <= n; i += kTables)
    for (int64_t t = 0; t < kTables; ++t)
      ++counts[static_cast<std::size_t>(t) * kValues + keys[i + t]];
  for (; i < n; ++i) ++counts[keys[i]];
  for (std::size_t value = 0; value < kValues; ++value) {
    uint32_t count = 0;
    for (std::size_t t = 0; t < kTables; ++t) count += counts[t * kValues + value];
    keys = std::fill_n(keys, count, static_cast<K>(value));
  }
}

// A few short keys as keys of 32 bits. Whether they were sorted.
template <class K>
bool sort_widened(K* keys, int64_t n) {
  constexpr int64_t kMost = sizeof(K) == 1 ? 512 : 1024;  // beyond, counts and digits are as fast
  if (n > kMost || !sorts_by_vectors()) return false;
  std::array<uint32_t, kMost> wide;
  std::copy_n(keys, n, wide.data());
  sort_by_vectors<uint32_t>(wide.data(), n, 0);
  for (int64_t i = 0; i < n; ++i) keys[i] = static_cast<K>(wide[static_cast<std::size_t>(i)]);
  return true;
}

// Elements from which on a table of all 16-bit values pays.
constexpr int64_t kCounted = int64_t{1} << 15;

}  // namespace

template <class K>
void sort_keys(K* keys, K* spare, int64_t n) {
  if constexpr (sizeof(K) >= 4) {
    if (sort_by_vectors<K>(keys, n, 0)) return;
  } else {
    if (sort_widened(keys, n)) return;
    if (n >= (sizeof(K) == 1 ? kShort : kCounted) && n <= int64_t{UINT32_MAX})
      return count_and_write(keys, n);
  }
  sort_items(keys, spare, n);
}

template <class K>
void sort_keyed(Keyed<K>* keys, Keyed<K>* spare, int64_t n) {
  if constexpr (sizeof(K) == 4 && std::endian::native == std::endian::little) {
    static_assert(sizeof(Keyed<K>) == sizeof(uint64_t));
    if (sort_by_vectors<uint64_t>(reinterpret_cast<uint64_t*>(keys), n, 0)) return;
  }
  sort_items(keys, spare, n);
}

#define MX_INSTANTIATE(K)                   \
  template void sort_keys(K*, K*, int64_t); \
  template void sort_keyed(Keyed<K>*, Keyed<K>*, int64_t);
MX_INSTANTIATE(uint8_t)
MX_INSTANTIATE(uint16_t)
MX_INSTANTIATE(uint32_t)
MX_INSTANTIATE(uint64_t)
#undef MX_INSTANTIATE

}  // namespace mxnet
