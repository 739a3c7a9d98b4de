// SPDX-License-Identifier: Apache-2.0
// Gradients of weights from squares to rows: each element is where its indices say.
#include "op/fused/weight_rows.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace mxnet {
namespace {

struct Sizes {
  int64_t filters, channels, pixels;  // filters and channels: of squares
};

class WeightRows : public testing::TestWithParam<Sizes> {};

TEST_P(WeightRows, EachElementIsWhereItsIndicesSay) {
  const int64_t n = weight_square();
  if (n == 0) GTEST_SKIP() << "needs AVX2";
  const WeightSquares weight{GetParam().filters * n, GetParam().channels * n, GetParam().pixels};
  const auto size = static_cast<std::size_t>(weight.filters * weight.channels * weight.pixels);
  std::vector<float> squares(size), rows(size + 1, -1.0F);
  std::iota(squares.begin(), squares.end(), 0.0F);
  weight_to_rows(weight, squares.data(), rows.data());
  EXPECT_EQ(rows.back(), -1.0F) << "written behind the end";
  auto row = rows.begin();
  for (int64_t f = 0; f < weight.filters; ++f) {
    for (int64_t c = 0; c < weight.channels; ++c) {
      for (int64_t p = 0; p < weight.pixels; ++p, ++row) {
        const int64_t square = (f / n * (weight.channels / n) + c / n) * weight.pixels + p;
        ASSERT_EQ(*row, static_cast<float>((square * n + c % n) * n + f % n))
            << f << " " << c << " " << p;
      }
    }
  }
}

// One thread and many; kernels with fewer, as many and more pixels than a vector has lanes.
INSTANTIATE_TEST_SUITE_P(Sizes, WeightRows,
                         testing::Values(Sizes{1, 1, 1}, Sizes{3, 2, 1}, Sizes{2, 3, 2},
                                         Sizes{2, 1, 9}, Sizes{1, 2, 16}, Sizes{1, 1, 49},
                                         Sizes{40, 30, 1}, Sizes{9, 11, 9}, Sizes{0, 3, 1},
                                         Sizes{3, 0, 9}));

}  // namespace
}  // namespace mxnet
