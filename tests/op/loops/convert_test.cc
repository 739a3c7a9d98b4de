// SPDX-License-Identifier: Apache-2.0
// Arrays are converted as single values are, bit for bit, for every half-precision value and for
// every length around a block.
#include "op/loops/convert.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
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

}  // namespace
}  // namespace mxnet
