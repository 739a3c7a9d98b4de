// SPDX-License-Identifier: Apache-2.0
// Sums of products along columns against sums written out. The arrays end with their last element,
// so that the address sanitizer sees who reads or writes on.
#include "op/products/column_dots.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "base/simd.h"
#include "op/products/small_integers.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20261130;

template <class T>
class ColumnDotsOf : public testing::Test {};
using Types = testing::Types<float, double, uint32_t, uint64_t>;
TYPED_TEST_SUITE(ColumnDotsOf, Types);

TYPED_TEST(ColumnDotsOf, AreSums) {
  using T = TypeParam;
  std::mt19937_64 random(kSeed);
  const int64_t lanes = (simd_level() == 2 ? 64 : 32) / int64_t{sizeof(T)};
  for (const int64_t width :
       {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 79, 130, 1023, 1025, 3100}) {
    for (const int64_t rows : {0, 1, 7, 8, 9, 17, 257, 2100}) {
      for (const int64_t planes : {1, 3}) {
        if (width > 1000 && rows > 1000 && planes > 1) continue;
        SCOPED_TRACE(testing::Message() << planes << " x " << rows << " x " << width);
        const std::vector<T> a = small_integers<T>(planes * rows * width, random),
                             b = small_integers<T>(planes * rows * width, random);
        std::vector<T> want(static_cast<std::size_t>(planes * width)), c(want.size(), T{7});
        for (std::size_t i = 0; i < a.size(); ++i) {
          const auto at = static_cast<int64_t>(i), plane = at / (rows * width);
          want[static_cast<std::size_t>(plane * width + at % width)] += a[i] * b[i];
        }
        const bool made =
            multiply(ColumnDots<T>{{planes, rows, width}, a.data(), b.data(), c.data()});
        EXPECT_EQ(made, simd_level() > 0 && rows > 0 && width >= lanes);
        if (!made) want.assign(want.size(), T{7});
        EXPECT_EQ(c, want);
      }
    }
  }
}

}  // namespace
}  // namespace mxnet
