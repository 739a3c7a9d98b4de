// SPDX-License-Identifier: Apache-2.0
// What ordering rows borrows: room for the rows that there are, not for as many as would be fetched
// together.
#include <gtest/gtest.h>

#include <numeric>
#include <string_view>
#include <utility>

#include "op/nn/kernel_call.h"

namespace mxnet {
namespace {

TEST(RowOrder, TwoRowsOfAnInnerAxisTakeRoomForTwo) {
  constexpr int64_t kLength = 100000;
  FloatArray in(Shape{kLength, 2}), out(Shape{kLength, 2});
  std::iota(in.values.rbegin(), in.values.rend(), 0.0F);
  std::size_t borrowed = 0;
  const std::pair<std::string_view, std::string_view> axis[] = {{"axis", "0"}};
  ASSERT_FALSE(run_first("argsort", axis, {in.tensor()}, {out.tensor()}, &borrowed).empty());
  EXPECT_EQ(out.values.front(), kLength - 1);
  EXPECT_EQ(out.values.back(), 0);
  // The rows and their positions are four bytes a number each; the sort has keys with positions and
  // as many again.
  constexpr auto kRows = static_cast<std::size_t>(kLength);
  EXPECT_LT(borrowed, kRows * (2 * 4 + 2 * 4 + 2 * 2 * 8) * 5 / 4);
}

}  // namespace
}  // namespace mxnet
