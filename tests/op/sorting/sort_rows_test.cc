// SPDX-License-Identifier: Apache-2.0
// Sorting of keys gives what std::sort gives, whatever the keys look like, and with positions it is
// stable.
#include "op/sorting/sort_rows.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "base/simd.h"
#include "op/sorting/key_loops.h"
#include "op/sorting/vector_sort.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20250212;

// Keys that are hard for one way of sorting or another.
enum class Pattern { kRandom, kFewValues, kGreatest, kAscending, kDescending, kHighBits, kLast };

template <class K>
std::vector<K> keys_of(Pattern pattern, std::size_t n, std::mt19937_64& random) {
  std::vector<K> keys(n);
  for (K& key : keys) {
    switch (pattern) {
      case Pattern::kFewValues:
        key = static_cast<K>(random() % 5);
        break;
      case Pattern::kGreatest:
        key = static_cast<K>(~K{0} - random() % 3);
        break;
      case Pattern::kHighBits:
        key = static_cast<K>((random() % 7) << (8 * sizeof(K) - 3));
        break;
      default:
        key = static_cast<K>(random());
    }
  }
  if (pattern == Pattern::kAscending) std::sort(keys.begin(), keys.end());
  if (pattern == Pattern::kDescending) std::sort(keys.rbegin(), keys.rend());
  return keys;
}

// Lengths around those of vectors, of networks, and where other ways of sorting begin.
std::vector<std::size_t> lengths() {
  std::vector<std::size_t> all;
  for (std::size_t n = 1; n < 300; ++n) all.push_back(n);
  for (std::size_t n : {384, 385, 511, 512, 513, 1000, 1024, 1025, 4095, 4096, 8191, 8193, 40000})
    all.push_back(n);
  return all;
}

template <class K>
class SortRows : public testing::Test {};
using KeyTypes = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(SortRows, KeyTypes);

TYPED_TEST(SortRows, KeysComeInOrder) {
  std::mt19937_64 random(kSeed);
  for (int p = 0; p < static_cast<int>(Pattern::kLast); ++p) {
    for (const std::size_t n : lengths()) {
      auto keys = keys_of<TypeParam>(static_cast<Pattern>(p), n, random);
      auto expected = keys;
      std::sort(expected.begin(), expected.end());
      std::vector<TypeParam> spare(n);
      sort_keys(keys.data(), spare.data(), static_cast<int64_t>(n));
      ASSERT_EQ(keys, expected) << "pattern " << p << ", length " << n << ", seed " << kSeed;
    }
  }
}

TYPED_TEST(SortRows, EqualKeysKeepTheirOrder) {
  std::mt19937_64 random(kSeed);
  for (int p = 0; p < static_cast<int>(Pattern::kLast); ++p) {
    for (const std::size_t n : lengths()) {
      const auto keys = keys_of<TypeParam>(static_cast<Pattern>(p), n, random);
      std::vector<Keyed<TypeParam>> items, spare(n);
      for (std::size_t i = 0; i < n; ++i) items.emplace_back(keys[i], static_cast<uint32_t>(i));
      sort_keyed(items.data(), spare.data(), static_cast<int64_t>(n));
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(items[i].key, keys[items[i].at]);
        if (i == 0) continue;
        ASSERT_TRUE(items[i - 1] < items[i])
            << "pattern " << p << ", length " << n << ", seed " << kSeed;
      }
    }
  }
}

// Elements with NaN, both zeros and infinities, in both directions: what std::sort of their keys
// gives, where -0 is below 0. Numbers of keys around those of networks and blocks of a partition.
template <class T>
void expect_values_in_order() {
  using K = SortKey<T>;
  std::mt19937_64 random(kSeed);
  for (const K flip : {K{0}, static_cast<K>(~K{0})}) {
    for (const std::size_t n : lengths()) {
      std::vector<T> values(n), out(n);
      for (T& value : values) value = static_cast<T>(static_cast<int64_t>(random() % 4001) - 2000);
      if constexpr (std::is_floating_point_v<T>) {
        const T special[] = {std::numeric_limits<T>::quiet_NaN(),
                             std::numeric_limits<T>::infinity(),
                             -std::numeric_limits<T>::infinity(), T{-0.0}};
        for (const T value : special) values[random() % n] = value;
      }
      std::vector<K> spare(n), expected(n), got(n);
      std::transform(values.begin(), values.end(), expected.begin(),
                     [&](T x) { return to_key<T, false>(x, flip); });
      std::sort(expected.begin(), expected.end());
      sort_values(values.data(), out.data(), spare.data(), static_cast<int64_t>(n), flip);
      std::transform(out.begin(), out.end(), got.begin(),
                     [&](T x) { return to_key<T, false>(x, flip); });
      ASSERT_EQ(got, expected) << "length " << n << ", seed " << kSeed;
    }
  }
}

TEST(SortValues, OfFloatsAreInOrder) { expect_values_in_order<float>(); }
TEST(SortValues, OfDoublesAreInOrder) { expect_values_in_order<double>(); }
TEST(SortValues, OfIntegersAreInOrder) {
  expect_values_in_order<int32_t>();
  expect_values_in_order<int64_t>();
  expect_values_in_order<int8_t>();
}

// The best few of a row are those that a sort puts first: rows around the blocks that are looked at
// together, with many good elements late (descending), early (ascending) or all alike.
template <class T>
void expect_best_selected() {
  using K = SortKey<T>;
  std::mt19937_64 random(kSeed);
  for (int p = 0; p < static_cast<int>(Pattern::kLast); ++p) {
    for (const std::size_t n : {1, 31, 32, 33, 95, 96, 150, 1000, 20011}) {
      const auto keys = keys_of<K>(static_cast<Pattern>(p), n, random);
      std::vector<T> values(n);
      std::transform(keys.begin(), keys.end(), values.begin(),
                     [](K key) { return from_key<T>(key, K{0}); });
      std::vector<Keyed<K>> expected;
      for (std::size_t i = 0; i < n; ++i)
        expected.emplace_back(to_key(values[i], K{0}), static_cast<uint32_t>(i));
      std::sort(expected.begin(), expected.end());
      for (const std::size_t k :
           {std::size_t{1}, (n + 15) / 16, std::min<std::size_t>(n, 16), (n + 3) / 4, n}) {
        const auto count = static_cast<int64_t>(k);
        std::vector<Keyed<K>> room(static_cast<std::size_t>(selection_room(count)));
        select_keyed(values.data(), static_cast<int64_t>(n), count, K{0}, room.data());
        for (std::size_t i = 0; i < k; ++i) {
          ASSERT_TRUE(room[i].at == expected[i].at && room[i].key == expected[i].key)
              << "pattern " << p << ", " << i << " of " << k << " out of " << n << ", seed "
              << kSeed;
        }
      }
    }
  }
}

TEST(SelectKeyed, TakesWhatASortPutsFirst) {
  expect_best_selected<float>();
  expect_best_selected<double>();
  expect_best_selected<uint8_t>();
  expect_best_selected<int8_t>();
  expect_best_selected<float16>();
  expect_best_selected<bfloat16>();
  expect_best_selected<int32_t>();
  expect_best_selected<int64_t>();
}

// Of rows that are long enough the best few are found by vectors from AVX2 on.
TEST(SelectKeyed, IsSoonWithWideVectors) {
  EXPECT_EQ(selects_soon<float16>(321, 3), simd_level() > 0);
  EXPECT_EQ(selects_soon<int64_t>(128, 5), simd_level() > 0);
  EXPECT_EQ(selects_soon<float>(1000, 16), simd_level() > 0);
  EXPECT_FALSE(selects_soon<float>(1000, 17));
  EXPECT_FALSE(selects_soon<bool>(1000, 3));
}

// Zeros of either sign are equal, of which the first ones are the best: in either direction, where
// they are all that is near the bound.
template <class T>
void expect_first_zeros() {
  using K = SortKey<T>;
  std::mt19937_64 random(kSeed);
  for (const bool ascending : {true, false}) {
    const K flip = ascending ? K{0} : static_cast<K>(~K{0});
    for (const int64_t n : {96, 150, 321}) {
      std::vector<T> values(static_cast<std::size_t>(n));
      for (T& x : values) x = T(random() % 2 == 0 ? 0.0F : -0.0F);
      values[static_cast<std::size_t>(n / 2)] = T(ascending ? -1.0F : 1.0F);
      for (const int64_t k : {3, 5, 16}) {
        std::vector<Keyed<K>> room(static_cast<std::size_t>(selection_room(k)));
        select_keyed(values.data(), n, k, flip, room.data());
        EXPECT_EQ(room[0].at, static_cast<uint32_t>(n / 2));
        for (std::size_t i = 1; i < static_cast<std::size_t>(k); ++i) EXPECT_EQ(room[i].at, i - 1);
      }
    }
  }
}
TEST(SelectKeyed, TakesTheFirstOfZerosOfEitherSign) {
  expect_first_zeros<float>();
  expect_first_zeros<double>();
  expect_first_zeros<float16>();
  expect_first_zeros<bfloat16>();
}

// Bad pivots change how long it takes, not what comes out.
template <class K>
void expect_sorted_by_heap() {
  std::mt19937_64 random(kSeed);
  for (const int depth : {0, 1, 3}) {
    for (const std::size_t n : {200, 257, 5000}) {
      auto keys = keys_of<K>(Pattern::kRandom, n, random);
      auto expected = keys;
      // Without vector instructions nothing is done.
      if (!sort_by_vectors<K>(keys.data(), static_cast<int64_t>(n), 0, depth)) {
        EXPECT_EQ(keys, expected);
        continue;
      }
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(keys, expected) << "depth " << depth << ", length " << n << ", seed " << kSeed;
    }
  }
}

TEST(VectorSort, WithoutGoodPivotsAHeapSorts) {
  expect_sorted_by_heap<uint32_t>();
  expect_sorted_by_heap<uint64_t>();
}

// Long rows are sorted by several threads: each part is where the whole would have it.
template <class K>
void expect_sorted_by_threads() {
  const int before = omp_get_max_threads();
  omp_set_num_threads(4);
  std::mt19937_64 random(20261120);
  for (const uint64_t distinct : {uint64_t{1}, uint64_t{3}, uint64_t{1000}, ~uint64_t{0}}) {
    std::vector<K> keys(300001), spare(keys.size());
    for (K& key : keys) key = static_cast<K>(~(random() % distinct));
    std::vector<K> expected = keys;
    std::sort(expected.begin(), expected.end());
    sort_keys(keys.data(), spare.data(), static_cast<int64_t>(keys.size()));
    EXPECT_EQ(keys, expected) << distinct << " distinct keys of " << sizeof(K) << " bytes";
  }
  omp_set_num_threads(before);
}

TEST(SortLongRows, BySeveralThreads) {
  expect_sorted_by_threads<uint32_t>();
  expect_sorted_by_threads<uint64_t>();
}

}  // namespace
}  // namespace mxnet
