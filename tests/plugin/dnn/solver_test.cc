// SPDX-License-Identifier: Apache-2.0
// Who factors matrices, and cuSOLVER's functions as far as they go without a GPU.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "plugin/cuda/blas/cublas.h"
#include "plugin/cuda/solver/cusolver.h"
#include "plugin/cuda/solver/solver_choice.h"
#include "plugin/cuda/solver/triangle.h"

namespace mxnet::cuda {
namespace {

TEST(SolverChoice, SmallAndManyAreOfBlocksLargeAndFewOfTheLibrary) {
  EXPECT_FALSE(is_large_for_a_block(127, 1));
  EXPECT_TRUE(is_large_for_a_block(128, 1));
  EXPECT_TRUE(is_large_for_a_block(128, 16));
  EXPECT_FALSE(is_large_for_a_block(128, 17));
  EXPECT_FALSE(is_large_for_a_block(1023, 1000));
  EXPECT_TRUE(is_large_for_a_block(1024, 1000));
}

TEST(SolverChoice, BatchesInBetweenAreOneCallOfTheLibrary) {
  EXPECT_FALSE(is_batch_for_library(31, 1000));
  EXPECT_FALSE(is_batch_for_library(32, 1));
  EXPECT_TRUE(is_batch_for_library(32, 2));
  EXPECT_FALSE(is_batch_for_library(128, 16));  // one after the other
  EXPECT_TRUE(is_batch_for_library(128, 17));
  EXPECT_FALSE(is_batch_for_library(1024, 1000));
  EXPECT_FALSE(has_batched_spectra(8, 1));
  EXPECT_TRUE(has_batched_spectra(512, 2));
  EXPECT_FALSE(has_batched_spectra(513, 2));
}

TEST(SolverChoice, LargeTrianglesAndFewAreTheLibrarys) {
  EXPECT_FALSE(is_large_for_a_thread(63, 1));
  EXPECT_TRUE(is_large_for_a_thread(64, 32));
  EXPECT_FALSE(is_large_for_a_thread(64, 33));
  EXPECT_FALSE(is_large_for_a_thread(255, 1000));
  EXPECT_TRUE(is_large_for_a_thread(256, 1000));
}

TEST(SolverChoice, SingularValuesOfABatchAreCountedIn32Bits) {
  EXPECT_FALSE(has_batched_singular_values(8, 1, 32));
  EXPECT_TRUE(has_batched_singular_values(32, 2, 32));
  EXPECT_FALSE(has_batched_singular_values(33, 2, 32));
  EXPECT_FALSE(has_batched_singular_values(1, int64_t{1} << 31, 32));
}

// b = op(a) x or x op(a), as BLAS defines trsm, all column by column.
std::vector<double> multiply_by_columns(const ColumnMajorEquations& of, bool unit, int n,
                                        const std::vector<double>& a,
                                        const std::vector<double>& x) {
  const auto in_a = [&](int i, int j) {  // of op(a)
    if (of.transposed) std::swap(i, j);
    if (i == j) return unit ? 1.0 : a[static_cast<std::size_t>(j * n + i)];
    return (i < j) == of.upper ? a[static_cast<std::size_t>(j * n + i)] : 0.0;
  };
  const int rows = static_cast<int>(of.rows), columns = static_cast<int>(of.columns);
  std::vector<double> b(x.size());
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      for (int k = 0; k < n; ++k)
        b[static_cast<std::size_t>(j * rows + i)] +=
            of.left ? in_a(i, k) * x[static_cast<std::size_t>(j * rows + k)]
                    : x[static_cast<std::size_t>(k * rows + i)] * in_a(k, j);
  return b;
}
// b = m x for each right-hand side, as TriangleEquations says it, all row by row.
std::vector<double> multiply_by_rows(const TriangleEquations& of, const std::vector<double>& a,
                                     const std::vector<double>& x) {
  const int n = static_cast<int>(of.n), count = static_cast<int>(of.count);
  const auto in_m = [&](int i, int j) {
    if (of.transposed) std::swap(i, j);
    if (i == j) return of.unit ? 1.0 : a[static_cast<std::size_t>(i * n + j)];
    return (i > j) == of.lower ? a[static_cast<std::size_t>(i * n + j)] : 0.0;
  };
  const auto at = [&](int i, int side) {
    return static_cast<std::size_t>(of.in_rows ? side * n + i : i * count + side);
  };
  std::vector<double> b(x.size());
  for (int side = 0; side < count; ++side)
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k) b[at(i, side)] += in_m(i, k) * x[at(k, side)];
  return b;
}

TEST(SolverChoice, TheLibraryIsToldTheSameEquationsColumnByColumn) {
  std::vector<double> a(9), x(6);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = 1.0 + static_cast<double>(i);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.5 - static_cast<double>(i * i);
  for (int flags = 0; flags < 16; ++flags) {
    const TriangleEquations of{.n = 3,
                               .count = 2,
                               .lower = (flags & 1) != 0,
                               .transposed = (flags & 2) != 0,
                               .unit = (flags & 4) != 0,
                               .in_rows = (flags & 8) != 0};
    EXPECT_EQ(multiply_by_columns(column_major(of), of.unit, 3, a, x), multiply_by_rows(of, a, x))
        << "flags " << flags;
  }
}

// Skipped where the toolkit has no cuBLAS.
TEST(Cublas, HasTheFunctionsAndItsFailuresNameTheCall) {
  const Cublas* cublas = nullptr;
  try {
    cublas = &Cublas::get();
  } catch (const Error& error) {
    GTEST_SKIP() << error.message();
  }
  cublas->check(CUBLAS_STATUS_SUCCESS, "cublasSgetrfBatched");
  try {
    cublas->check(CUBLAS_STATUS_INVALID_VALUE, "cublasSgetrfBatched");
    ADD_FAILURE() << "a failure was taken for a success";
  } catch (const Error& error) {
    EXPECT_EQ(error.tag(), "cublas");
    EXPECT_NE(error.message().find("cublasSgetrfBatched: "), std::string::npos);
  }
  EXPECT_NE(cublas->sgetrf_all, nullptr);
  EXPECT_NE(cublas->dgetrf_all, nullptr);
  EXPECT_NE(cublas->strsm, nullptr);
  EXPECT_NE(cublas->dtrsm, nullptr);
}

// Skipped where the toolkit has no cuSOLVER, or not all that it needs.
TEST(Cusolver, HasTheFunctionsAndItsFailuresNameTheCall) {
  const Cusolver* cusolver = nullptr;
  try {
    cusolver = &Cusolver::get();
  } catch (const Error& error) {
    GTEST_SKIP() << error.message();
  }
  cusolverDnParams_t params = nullptr;
  cusolver->check(cusolver->create_params(&params), "cusolverDnCreateParams");
  EXPECT_EQ(cusolver->destroy_params(params), CUSOLVER_STATUS_SUCCESS);
  try {
    cusolver->check(CUSOLVER_STATUS_INVALID_VALUE, "cusolverDnXpotrf");
    ADD_FAILURE() << "a failure was taken for a success";
  } catch (const Error& error) {
    EXPECT_EQ(error.tag(), "cusolver");
    EXPECT_NE(error.message().find("cusolverDnXpotrf: status 3"), std::string::npos);
  }
}

}  // namespace
}  // namespace mxnet::cuda
