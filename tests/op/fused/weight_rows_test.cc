// SPDX-License-Identifier: Apache-2.0
// Gradients of weights from squares to rows: each element is where its indices say.
#include "op/fused/weight_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace mxnet {
namespace {

struct Sizes {
  int64_t filters, channels, pixels;  // filters and channels: of squares
};

class WeightRows : public testing::TestWithParam<Sizes> {};

// Numbers that tell neighbours apart in any type.
template <class T>
void check(int64_t filters, int64_t channels, int64_t pixels) {
  const int64_t n = weight_square();
  const WeightSquares weight{filters * n, channels * n, pixels, sizeof(T)};
  const auto size = static_cast<std::size_t>(weight.filters * weight.channels * pixels);
  std::vector<T> squares(size), rows(size + 1, T{7});
  for (std::size_t i = 0; i < size; ++i) squares[i] = static_cast<T>(i % 60013);
  ASSERT_TRUE(turns_to_rows(weight));
  weight_to_rows(weight, squares.data(), rows.data());
  EXPECT_EQ(rows.back(), T{7}) << "written behind the end";
  auto row = rows.begin();
  for (int64_t f = 0; f < weight.filters; ++f) {
    for (int64_t c = 0; c < weight.channels; ++c) {
      for (int64_t p = 0; p < pixels; ++p, ++row) {
        const int64_t square = (f / n * (weight.channels / n) + c / n) * pixels + p;
        const auto from = static_cast<std::size_t>((square * n + c % n) * n + f % n);
        ASSERT_EQ(*row, squares[from]) << f << " " << c << " " << p;
      }
    }
  }
}

TEST_P(WeightRows, EachElementIsWhereItsIndicesSay) {
  if (weight_square() == 0) GTEST_SKIP() << "needs AVX2";
  const Sizes& sizes = GetParam();
  check<float>(sizes.filters, sizes.channels, sizes.pixels);
  if (sizes.channels * sizes.pixels % 2 == 0)
    check<uint16_t>(sizes.filters, sizes.channels, sizes.pixels);
}

TEST(WeightRowsChoice, SquaresAndVectorsAreWhole) {
  const int64_t n = weight_square();
  if (n == 0) GTEST_SKIP() << "needs AVX2";
  EXPECT_TRUE(turns_to_rows({n, n, 1, 4}));
  EXPECT_FALSE(turns_to_rows({n + 1, n, 1, 4}));
  EXPECT_FALSE(turns_to_rows({n, n / 2, 2, 4}));
  EXPECT_FALSE(turns_to_rows({n, n, 3, 2})) << "a row ends within a vector";
  EXPECT_TRUE(turns_to_rows({n, n, 2, 2}));
  EXPECT_FALSE(turns_to_rows({n, n, 1, 8}));
  EXPECT_FALSE(turns_to_rows({n, n, 4, 1}));
}

// One thread and many; kernels with fewer, as many and more pixels than a vector has lanes.
INSTANTIATE_TEST_SUITE_P(Sizes, WeightRows,
                         testing::Values(Sizes{1, 1, 1}, Sizes{3, 2, 1}, Sizes{2, 3, 2},
                                         Sizes{2, 1, 9}, Sizes{1, 2, 16}, Sizes{1, 1, 49},
                                         Sizes{40, 30, 1}, Sizes{9, 11, 9}, Sizes{0, 3, 1},
                                         Sizes{3, 0, 9}));

}  // namespace
}  // namespace mxnet
