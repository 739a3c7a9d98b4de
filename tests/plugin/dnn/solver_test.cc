// SPDX-License-Identifier: Apache-2.0
// Who factors matrices, and cuSOLVER's functions as far as they go without a GPU.
#include <gtest/gtest.h>

#include "base/error.h"
#include "plugin/cuda/blas/cublas.h"
#include "plugin/cuda/solver/cusolver.h"
#include "plugin/cuda/solver/solver_choice.h"

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
