// SPDX-License-Identifier: Apache-2.0
// MXNET_SAFE_ACCUMULATION decides about the type in which sums of float32 meet.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace mxnet
