// SPDX-License-Identifier: Apache-2.0
// The elementwise rows compiled for the host: the same text that nvcc compiles, checked against the
// standard library.
#include "plugin/cuda/unary_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string_view>

namespace mxnet {
namespace {

using std::exp;

#define MX_DEFINE(name, type, doc, expression) \
  type row_##name(type x) {                    \
    using T = type;                            \
    return expression;                         \
  }
MX_UNARY_ROWS(MX_DEFINE)
#undef MX_DEFINE

TEST(UnaryRows, SigmoidMatchesDoublePrecision) {
  for (float x = -30; x <= 30; x += 0.37f) {
    const double expected = 1 / (1 + std::exp(-static_cast<double>(x)));
    EXPECT_NEAR(row_sigmoid(x), expected, 4e-7 * expected) << x;
  }
}

TEST(UnaryRows, SigmoidIsFiniteAtTheEnds) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(row_sigmoid(-kInfinity), 0);
  EXPECT_EQ(row_sigmoid(kInfinity), 1);
  EXPECT_EQ(row_sigmoid(-1e4f), 0);
  EXPECT_EQ(row_sigmoid(0), 0.5f);
  EXPECT_TRUE(std::isnan(row_sigmoid(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace mxnet
