// SPDX-License-Identifier: Apache-2.0
// Arrays are converted as single values are, bit for bit, for every half-precision value and for
// every length around a block.
#include "op/loops/convert.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace mxnet {
namespace {

constexpr int64_t kAll = 65536;

template <class To, class From>
void expect_as_single_values(const std::vector<From>& from) {
  const auto bulk = std::make_unique<To[]>(from.size());  // vectors of bool are packed
  convert_array(from.data(), bulk.get(), static_cast<int64_t>(from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    const To single = convert<To>(from[i]);
    ASSERT_EQ(std::memcmp(&bulk[i], &single, sizeof(To)), 0) << "element " << i;
  }
}

template <class Half>
class ConvertHalf : public testing::Test {};
using HalfTypes = testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(ConvertHalf, HalfTypes);

TYPED_TEST(ConvertHalf, EveryValueToEveryType) {
  std::vector<TypeParam> values(kAll);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].bits = static_cast<uint16_t>(i);
  expect_as_single_values<float>(values);
  expect_as_single_values<double>(values);
  expect_as_single_values<bool>(values);
  expect_as_single_values<TypeParam>(values);
  expect_as_single_values<float16>(values);
  expect_as_single_values<bfloat16>(values);
}

TYPED_TEST(ConvertHalf, NumbersOfAllTypesRoundAlike) {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < kAll; ++i) {
    floats.push_back(static_cast<float>(i - kAll / 2) * 1.37f);
    doubles.push_back(static_cast<double>(i) * 1e-7);
    integers.push_back((i - kAll / 2) * 3);
  }
  expect_as_single_values<TypeParam>(floats);
  expect_as_single_values<TypeParam>(doubles);
  expect_as_single_values<TypeParam>(integers);
}

TYPED_TEST(ConvertHalf, NothingIsWrittenBehindTheEnd) {
  for (const std::size_t n : {0, 1, 7, 15, 17, 511, 512, 513, 1025}) {
    const std::vector<double> from(n, 1.5);
    std::vector<TypeParam> to(n + 1, TypeParam(-2.0f));
    convert_array(from.data(), to.data(), static_cast<int64_t>(n));
    EXPECT_EQ(static_cast<float>(to[n]), -2.0f) << n;
    if (n > 0) {
      EXPECT_EQ(static_cast<float>(to[n - 1]), 1.5f) << n;
    }
  }
}

// What each type may hold that converts in an odd way: ends of ranges, zeros, subnormals,
// infinities, NaN.
template <class T>
std::vector<T> odd_numbers() {
  std::vector<T> odd;
  for (int i = -300; i <= 300; ++i) odd.push_back(convert<T>(static_cast<float>(i) * 1.25f));
  if constexpr (std::is_integral_v<T>) {
    for (const T x : {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()})
      odd.insert(odd.end(), {x, static_cast<T>(x / 2), static_cast<T>(x / 3 + 1)});
  } else {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (const float x :
         {0.0f, -0.0f, 1e-42f, -1e-40f, 0.3f, -0.999f, 70000.5f, 2147483520.0f, kInfinity,
          -kInfinity, 3e9f, 1e30f, std::numeric_limits<float>::quiet_NaN()})
      odd.push_back(static_cast<T>(x));
  }
  return odd;
}
// At each place of a vector, and after any length.
template <class From, class To>
void expect_bulk() {
  static_assert(kConvertsInBulk<From, To>);
  const std::vector<From> all = odd_numbers<From>();
  expect_as_single_values<To>(all);
  for (std::size_t n = 0; n < 140; ++n)
    expect_as_single_values<To>(
        std::vector<From>(all.end() - static_cast<std::ptrdiff_t>(n), all.end()));
}
TEST(Convert, BulkIsOneByOne) {
  expect_bulk<bfloat16, int32_t>();
  expect_bulk<bfloat16, int8_t>();
  expect_bulk<bfloat16, double>();
  expect_bulk<bfloat16, bool>();
  expect_bulk<float, bool>();
  expect_bulk<float, int8_t>();
  expect_bulk<float, int32_t>();
  expect_bulk<double, int8_t>();
  expect_bulk<double, int32_t>();
  expect_bulk<int32_t, bool>();
  expect_bulk<int32_t, int8_t>();
  expect_bulk<int32_t, uint8_t>();
  expect_bulk<int32_t, bfloat16>();
  expect_bulk<int8_t, bfloat16>();
  expect_bulk<uint8_t, bfloat16>();
  expect_bulk<int64_t, float>();
}

}  // namespace
}  // namespace mxnet
