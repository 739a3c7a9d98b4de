// SPDX-License-Identifier: Apache-2.0
// mx::openblas links, BLAS and LAPACK alike, whichever way its build spells the symbols.
#include <cblas.h>
#include <gtest/gtest.h>
#include <lapacke.h>

#include <array>

#define MX_JOIN_(a, b) a##b
#define MX_JOIN(a, b) MX_JOIN_(a, b)
#define MX_BLAS(name) MX_JOIN(MXNET_BLAS_PREFIX, name)

namespace {

TEST(OpenBLAS, MultipliesMatrices) {
  const std::array<float, 4> a{1, 2, 3, 4}, b{5, 6, 7, 8};
  std::array<float, 4> c{};
  MX_BLAS(cblas_sgemm)
  (CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1.0F, a.data(), 2, b.data(), 2, 0.0F,
   c.data(), 2);
  EXPECT_EQ(c, (std::array<float, 4>{19, 22, 43, 50}));
}

TEST(OpenBLAS, SolvesALinearSystem) {
  std::array<double, 4> a{2, 0, 0, 4};
  std::array<double, 2> b{6, 8};
  std::array<lapack_int, 2> pivots{};
  ASSERT_EQ(MX_BLAS(LAPACKE_dgesv)(LAPACK_ROW_MAJOR, 2, 1, a.data(), 2, pivots.data(), b.data(), 1),
            0);
  EXPECT_EQ(b, (std::array<double, 2>{3, 2}));
}

}  // namespace
