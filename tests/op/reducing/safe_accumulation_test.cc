// SPDX-License-Identifier: Apache-2.0
// MXNET_SAFE_ACCUMULATION decides about the type in which sums of float32 meet.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "base/config_process.h"
#include "base/config_table.h"
#include "no_resources.h"
#include "op/reducing/evaluate.h"

namespace mxnet {
namespace {

float sum(std::vector<float> values) {
  float result = 0;
  NoResources resources;
  KernelContext context({}, {}, Device::cpu(), nullptr, false, resources);
  const Shape shape{static_cast<int64_t>(values.size())}, one{1};
  reduce_to({Reduction::sum}, {values.data(), &shape, DType::kFloat32}, AxisSet{1},
            {&result, &one, DType::kFloat32}, context);
  return result;
}

TEST(SafeAccumulation, SumsOfFloatMeetInDouble) {
  // Float cannot hold 2^24 + 1: added one after the other, ones are lost.
  const std::vector<float> values{0x1p24f, 1.0f, 1.0f};
  EXPECT_EQ(sum(values), 0x1p24f + 2.0f);
  config_set("MXNET_SAFE_ACCUMULATION", "0");
  EXPECT_EQ(sum(values), 0x1p24f);
  config_set("MXNET_SAFE_ACCUMULATION", std::nullopt);
  EXPECT_EQ(sum(values), 0x1p24f + 2.0f);
}

// Two rows are added as floats, which gives what their sum in double is rounded to.
TEST(SafeAccumulation, SumsOfTwoRowsAreThoseOfDoubles) {
  constexpr int64_t kWidth = 1003;
  using Limits = std::numeric_limits<float>;
  const float special[] = {
      0.0F,           -0.0F,         Limits::infinity(),   -Limits::infinity(),  Limits::max(),
      -Limits::max(), Limits::min(), Limits::denorm_min(), 1 + Limits::epsilon()};
  std::mt19937 random(5);
  std::vector<float> x(2 * kWidth), sums(kWidth);
  for (float& number : x) {
    const auto scale = static_cast<int>(random() % 60) - 30;
    number =
        random() % 4 == 0 ? special[random() % 9] : std::ldexp(static_cast<float>(random()), scale);
  }
  NoResources resources;
  KernelContext context({}, {}, Device::cpu(), nullptr, false, resources);
  const Shape shape{2, kWidth}, one{kWidth};
  reduce_to({Reduction::sum}, {x.data(), &shape, DType::kFloat32}, AxisSet{1},
            {sums.data(), &one, DType::kFloat32}, context);
  for (std::size_t j = 0; j < kWidth; ++j) {
    const auto sum = static_cast<float>(0.0 + double{x[j]} + double{x[kWidth + j]});
    if (std::isnan(sum)) {
      EXPECT_TRUE(std::isnan(sums[j])) << j;
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(sums[j]), std::bit_cast<uint32_t>(sum)) << j;
    }
  }
}

}  // namespace
}  // namespace mxnet
