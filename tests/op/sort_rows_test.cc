// SPDX-License-Identifier: Apache-2.0
// Sorting of keys gives what std::sort gives, whatever the keys look like, and with positions it is
// stable.
#include "op/sort_rows.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <random>
#include <vector>

#include "op/vector_sort.h"

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
  for (std::size_t n : {1000, 4095, 4096, 8191, 8193, 40000}) all.push_back(n);
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

// Whether vectors are used or not: refusing is allowed, losing keys is not.
TEST(VectorSort, KeepsAllKeysEvenIfItGivesUp) {
  std::mt19937_64 random(kSeed);
  auto keys = keys_of<uint32_t>(Pattern::kRandom, 5000, random);
  auto expected = keys;
  std::vector<uint32_t> spare(keys.size());
  const bool sorted = sort_by_vectors(keys.data(), spare.data(), int64_t{5000});
  std::sort(expected.begin(), expected.end());
  if (!sorted) std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, expected) << "seed " << kSeed;
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
