// SPDX-License-Identifier: Apache-2.0
// Operators that have no kernel for GPUs, called with arrays on one.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "op/generators/random_draws.h"
#include "op/generators/random_streams.h"
#include "op/op_builder.h"
#include "op/run/gpu.h"
#include "tests/exec/arrays.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

// Counts its calls in its second input. Every operator of that kind has a kernel for GPUs.
MX_OP(_test_count_calls, NoParams)
.doc("The data; one more call.")
    .input("data", "Numbers.")
    .input("calls", "Their count.")
    .mutates({1})
    .infer([](const NoParams&, Infer& infer) { infer.in(0).same_as(infer.out(0)); })
    .cpu([](const NoParams&, KernelContext& context) {
      const Tensor& data = context.in(0);
      std::copy_n(data.as<float>(), data.size(), context.out(0).as<float>());
      *context.in(1).as<float>() += 1;
    });

MX_OP(_test_row_sums, NoParams)
.doc("Of the last axis.")
    .input("data", "Numbers.")
    .lenient()
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_dtype(infer.out(0));
      if (!infer.in(0).known()) return;
      Shape shape = Shape::scalar();
      for (int i = 0; i + 1 < infer.in(0).ndim(); ++i) shape.push_back(infer.in(0).dim(i));
      infer.out(0).set_shape(shape);
    })
    .cpu([](const NoParams&, KernelContext& context) {
      const Tensor &data = context.in(0), &out = context.out(0);
      const int64_t n = data.shape().back();
      for (int64_t i = 0; i < out.size(); ++i)
        out.as<float>()[i] =
            std::accumulate(data.as<float>() + i * n, data.as<float>() + (i + 1) * n, 0.0f);
    });

MX_OP(_test_draw_words, NoParams)
.doc("Random words below a thousand.")
    .uses_random()
    .infer([](const NoParams&, Infer& infer) {
      infer.out(0).set_shape({50}).set_dtype(DType::kFloat32);
    })
    .cpu([](const NoParams&, KernelContext& context) {
      Draws draws(RandomStreams::of(context.device()).sequential());
      for (int64_t i = 0; i < 50; ++i)
        context.out(0).as<float>()[i] = static_cast<float>(draws.word() % 1000);
    });

// On copies of its arrays: results, states that it changes, and what is added to.
TEST(GpuRunOnHost, ResultsStatesAndSumsComeBack) {
  for (const char* op : {"_test_row_sums", "_test_count_calls"})
    ASSERT_EQ(gpu_kernel(Registry::get().at(op)), nullptr);
  expect_same("_test_row_sums", {Shape{2, 2, 2}});

  NDArray data = array_of({1, 2}, {}, kGpu), calls = array_of({5}, {}, kGpu);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(values_of(call("_test_count_calls", {&data, &calls})), (Values{1, 2}));
  EXPECT_EQ(values_of(calls), Values{7});

  NDArray x = array_of({3, 0, 0, 1}, Shape{2, 2}, kGpu), out = array_of({10, 10}, {}, kGpu);
  const OpDef& op = Registry::get().at("_test_row_sums");
  const NDArray* in[] = {&x};
  NDArray* outputs[] = {&out};
  const Request add[] = {Request::kAdd};
  invoke(op, parse_attrs(op, {})->params(), in, outputs, {.requests = add});
  EXPECT_EQ(values_of(out), (Values{13, 11}));
}

// It draws from the host's streams, in the order of calls.
TEST(GpuRunOnHost, RandomNumbersRepeat) {
  const auto draw = [] {
    RandomStreams::seed_all(kSeed);
    NDArray out(Shape{50}, DType::kFloat32, kGpu);
    call_into(out, "_test_draw_words", {});
    return values_as_float(out);
  };
  ASSERT_EQ(gpu_kernel(Registry::get().at("_test_draw_words")), nullptr);
  const Values first = draw();
  EXPECT_EQ(first, draw());
  EXPECT_NE(first, Values(50));
}

}  // namespace
}  // namespace mxnet
