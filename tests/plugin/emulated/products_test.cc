// SPDX-License-Identifier: Apache-2.0
// Products as cuBLASLt is asked for them: by which plans, how often they are looked for, and what
// becomes of refusals. The library is a stand-in that is as strict as its documentation.
#include "base/error.h"
#include "engine/engine.h"
#include "fake_cublaslt.h"
#include "setting.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing;       // NOLINT(google-build-using-namespace)
using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

class GpuProducts : public ::testing::Test {
 protected:
  GpuProducts() {
    Engine::get().wait_for_all();  // products of other tests count as well
    fake_cublaslt::take_counts();
  }
};

// A layer of a size that no other test has: plans are kept for the process.
void expect_layer(int64_t units, const char* dtype = "float32", double tolerance = 1e-5) {
  expect_same_outputs("FullyConnected",
                      {{random_values(3 * 7, -1, 1), {3, 7}, dtype},
                       {random_values(units * 7, -1, 1), {units, 7}, dtype},
                       {random_values(units, -1, 1), {units}, dtype}},
                      {{"num_hidden", std::to_string(units)}}, tolerance);
}

TEST_F(GpuProducts, APlanIsLookedForOnce) {
  for (int i = 0; i < 3; ++i) expect_layer(101);
  const fake_cublaslt::Counts counts = fake_cublaslt::take_counts();
  EXPECT_EQ(counts.searches, 1);
  EXPECT_EQ(counts.products, 3);
  EXPECT_EQ(counts.epilogue, CUBLASLT_EPILOGUE_BIAS);
}

TEST_F(GpuProducts, WhatHasNoEpilogueGetsItsBiasFromUsAndThatLasts) {
  for (int i = 0; i < 3; ++i) expect_layer(102, "float64", 1e-6);
  EXPECT_EQ(fake_cublaslt::take_counts().searches, 1);  // none is asked for
  fake_cublaslt::fail_searches(CUBLAS_STATUS_NOT_SUPPORTED, 1, true);
  for (int i = 0; i < 3; ++i) expect_layer(102);
  const fake_cublaslt::Counts counts = fake_cublaslt::take_counts();
  EXPECT_EQ(counts.searches, 2);
  EXPECT_EQ(counts.epilogue, CUBLASLT_EPILOGUE_DEFAULT);
}

TEST_F(GpuProducts, AFailureThatPassesChoosesOnceAlone) {
  fake_cublaslt::fail_searches(CUBLAS_STATUS_ALLOC_FAILED, 1, true);
  expect_layer(103);
  EXPECT_EQ(fake_cublaslt::take_counts().epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  for (int i = 0; i < 2; ++i) expect_layer(103);
  const fake_cublaslt::Counts counts = fake_cublaslt::take_counts();
  EXPECT_EQ(counts.searches, 1);
  EXPECT_EQ(counts.epilogue, CUBLASLT_EPILOGUE_BIAS);
}

TEST_F(GpuProducts, HalvesAreOnTensorCoresWhereTheyAreNowhereElse) {
  const Setting off("MXNET_CUDA_ALLOW_TENSOR_CORE", "0");
  expect_layer(104, "float16", 2e-3);
  EXPECT_EQ(fake_cublaslt::take_counts().compute, CUBLAS_COMPUTE_32F_PEDANTIC);
  fake_cublaslt::have_halves_on_tensor_cores_alone(true);
  expect_layer(105, "float16", 2e-3);
  EXPECT_EQ(fake_cublaslt::take_counts().compute, CUBLAS_COMPUTE_32F);
  // One that could have been found is no reason.
  fake_cublaslt::fail_searches(CUBLAS_STATUS_INTERNAL_ERROR, 2);
  EXPECT_THROW(expect_layer(106, "float16", 2e-3), Error);
  fake_cublaslt::have_halves_on_tensor_cores_alone(false);
  expect_layer(106, "float16", 2e-3);
  EXPECT_EQ(fake_cublaslt::take_counts().compute, CUBLAS_COMPUTE_32F_PEDANTIC);
}

// The stand-in refuses arrays that do not lie as was promised when their plan was looked for.
TEST_F(GpuProducts, PlansAreForArraysThatLieAlike) {
  for (const char* dtype : {"float32", "float16"}) {
    for (const int64_t behind : {0, 8, 4, 2, 1}) {
      expect_same_outputs("dot",
                          {{random_values(3 * 8, -1, 1), {3, 8}, dtype, behind},
                           {random_values(8 * 5, -1, 1), {8, 5}, dtype, behind}},
                          {}, 2e-3);
    }
  }
}

TEST_F(GpuProducts, EveryWayToTransposeInBatches) {
  for (const char* a : {"False", "True"}) {
    for (const char* b : {"False", "True"}) {
      const Shape left = *a == 'T' ? Shape{3, 6, 2} : Shape{3, 2, 6};
      const Shape right = *b == 'T' ? Shape{3, 5, 6} : Shape{3, 6, 5};
      expect_same_outputs("batch_dot",
                          {{random_values(36, -1, 1), left}, {random_values(90, -1, 1), right}},
                          {{"transpose_a", a}, {"transpose_b", b}}, 1e-5);
    }
  }
}

TEST_F(GpuProducts, LargeBatchesGoInPieces) {
  for (const int64_t batch : {65536, 70001}) {
    expect_same_outputs("batch_dot",
                        {{random_values(batch * 3, -1, 1), {batch, 1, 3}, "float16"},
                         {random_values(batch * 6, -1, 1), {batch, 3, 2}, "float16"}},
                        {}, 2e-3);
    EXPECT_EQ(fake_cublaslt::take_counts().products, batch == 65536 ? 2 : 3);
  }
}

// A layer's outputs and its gradients, of which that of the bias is an epilogue too.
TEST_F(GpuProducts, AnEpilogueThatIsOfferedAndRefusedIsOursFromThenOn) {
  fake_cublaslt::refuse_epilogues(true);
  for (int i = 0; i < 2; ++i) expect_layer(107);
  fake_cublaslt::Counts counts = fake_cublaslt::take_counts();
  EXPECT_EQ(counts.searches, 2);
  EXPECT_EQ(counts.products, 2);
  EXPECT_EQ(counts.epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  expect_same_outputs("_backward_FullyConnected",
                      {{random_values(5 * 108, -1, 1), {5, 108}},
                       {random_values(5 * 7, -1, 1), {5, 7}},
                       {random_values(108 * 7, -1, 1), {108, 7}}},
                      {{"num_hidden", "108"}, {"wanted", "7"}}, 1e-5);
  EXPECT_EQ(fake_cublaslt::take_counts().epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  fake_cublaslt::refuse_epilogues(false);
}

// As BLAS has it, and the CPU.
TEST_F(GpuProducts, AnAlphaOfZeroMakesZerosOfWhateverThereIs) {
  for (const char* dtype : {"float32", "float64"}) {
    const Input odd{{NAN, INFINITY, 1, 2}, {2, 2}, dtype};
    const Input plain{random_values(4, -1, 1), {2, 2}, dtype};
    expect_same_outputs("_linalg_gemm2", {odd, plain}, {{"alpha", "0"}});
    expect_same_outputs("_linalg_gemm", {odd, plain, plain}, {{"alpha", "0"}, {"beta", "2"}});
  }
}

TEST_F(GpuProducts, SumsOfNothingAreZeroAndGetTheirBias) {
  expect_same_outputs("FullyConnected",
                      {{{}, {3, 0}}, {{}, {4, 0}}, {random_values(4, -1, 1), {4}}},
                      {{"num_hidden", "4"}});
  EXPECT_EQ(fake_cublaslt::take_counts().products, 0);
}

}  // namespace
}  // namespace mxnet
