// SPDX-License-Identifier: Apache-2.0
// Operators on the plug-in's own kernels, run in host memory: from the call through dispatch, the
// engine and the launch to the numbers, which are those of the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "device/device_registry.h"
#include "op/gpu.h"
#include "tests/exec/arrays.h"

namespace mxnet {
namespace {

constexpr unsigned kSeed = 1010;
const Device kGpu = Device::gpu(0);

// What `op` gives on both devices for the same random inputs, which must agree.
void expect_same(std::string_view op, std::initializer_list<Shape> shapes,
                 const Attrs& attrs = {}) {
  std::mt19937 rng(kSeed);
  std::uniform_real_distribution<float> uniform(0.1f, 0.9f);
  std::vector<NDArray> host, gpu;
  for (const Shape& shape : shapes) {
    Values values(static_cast<std::size_t>(shape.size()));
    for (float& value : values) value = uniform(rng);
    host.push_back(array_of(values, shape));
    gpu.push_back(array_of(values, shape, kGpu));
  }
  const auto run = [&](std::vector<NDArray>& in) {
    return in.size() == 1   ? call(op, {&in[0]}, attrs)
           : in.size() == 2 ? call(op, {&in[0], &in[1]}, attrs)
                            : call(op, {&in[0], &in[1], &in[2]}, attrs);
  };
  const NDArray expected = run(host), result = run(gpu);
  EXPECT_EQ(result.device(), kGpu) << op;
  EXPECT_EQ(result.shape(), expected.shape()) << op;
  const Values want = values_of(expected), got = values_of(result);
  ASSERT_EQ(got.size(), want.size()) << op;
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i], 1e-5 * (1 + std::fabs(want[i])))
        << op << " [" << i << "], seed " << kSeed;
}

TEST(GpuOperators, KernelsComeFromThePlugin) {
  ASSERT_NE(gpu_table(), nullptr);
  EXPECT_STREQ(cuda_plugin()->description, "CUDA runtime 13000");
  EXPECT_STREQ(gpu_kernel(Registry::get().at("transpose"))->name, "portable");
  EXPECT_STREQ(gpu_kernel(Registry::get().at("FullyConnected"))->name, "cuda");
}

TEST(GpuOperators, AnOperatorWithoutKernelSaysSo) {
  NDArray x = array_of({1, 2}, {}, kGpu);
  const std::string error = error_of([&] { call("topk", {&x}).wait_to_read(); });
  EXPECT_TRUE(contains(error, "[topk] given arrays on gpu(0)")) << error;
}

TEST(GpuOperators, Elementwise) {
  for (const char* op : {"exp", "erf", "gammaln", "rsqrt", "floor", "relu", "erfinv", "arccos"})
    expect_same(op, {Shape{7, 33}});
  for (const char* op : {"elemwise_add", "_hypot", "_mod", "_power", "_greater"})
    expect_same(op, {Shape{5, 13}, Shape{5, 13}});
  expect_same("_rdiv_scalar", {Shape{100}}, {{"scalar", "0.3"}});
  expect_same("Activation", {Shape{40}}, {{"act_type", "softrelu"}});
}

TEST(GpuOperators, BroadcastInEveryDimension) {
  expect_same("broadcast_add", {Shape{3, 1, 5}, Shape{1, 4, 5}});
  expect_same("broadcast_mul", {Shape{3, 4, 1}, Shape{3, 1, 2}});
  expect_same("broadcast_power", {Shape{1}, Shape{6, 5}});
  expect_same("broadcast_lesser", {Shape{2, 1, 3, 1}, Shape{1, 4, 1, 5}});
}

TEST(GpuOperators, ReductionsOfRowsColumnsAndAll) {
  for (const char* axis : {"0", "1", "2", "(0,2)", "(0,1,2)"}) {
    expect_same("sum", {Shape{6, 40, 33}}, {{"axis", axis}});
    expect_same("max", {Shape{6, 40, 33}}, {{"axis", axis}});
    expect_same("mean", {Shape{6, 40, 33}}, {{"axis", axis}});
  }
  expect_same("norm", {Shape{5000}});
  expect_same("sum", {Shape{3, 9000}}, {{"axis", "0"}});
}

TEST(GpuOperators, Movement) {
  expect_same("transpose", {Shape{3, 4, 5}}, {{"axes", "(2,0,1)"}});
  expect_same("slice", {Shape{8, 9}}, {{"begin", "(1,8)"}, {"end", "(7,0)"}, {"step", "(2,-3)"}});
  expect_same("reverse", {Shape{4, 5}}, {{"axis", "(0,1)"}});
  expect_same("tile", {Shape{2, 3}}, {{"reps", "(3,1,2)"}});
  expect_same("Concat", {Shape{2, 3}, Shape{2, 5}}, {{"num_args", "2"}, {"dim", "1"}});
  expect_same("diag", {Shape{4, 6}}, {{"k", "1"}});
  expect_same("take", {Shape{6, 4}, Shape{3}}, {{"axis", "1"}, {"mode", "wrap"}});
}

TEST(GpuOperators, ProductsOfMatrices) {
  expect_same("dot", {Shape{7, 5}, Shape{5, 6}});
  expect_same("dot", {Shape{5, 7}, Shape{6, 5}}, {{"transpose_a", "1"}, {"transpose_b", "1"}});
  expect_same("batch_dot", {Shape{3, 4, 5}, Shape{3, 6, 5}}, {{"transpose_b", "1"}});
  expect_same("_npi_matmul", {Shape{2, 1, 4, 5}, Shape{3, 5, 6}});
  expect_same("FullyConnected", {Shape{4, 3, 5}, Shape{6, 15}, Shape{6}}, {{"num_hidden", "6"}});
}

TEST(GpuOperators, SoftmaxAlongAnyAxis) {
  expect_same("softmax", {Shape{4, 5, 6}}, {{"axis", "1"}, {"temperature", "0.5"}});
  expect_same("log_softmax", {Shape{3, 2000}});
  expect_same("softmin", {Shape{3, 7}});
}

TEST(GpuOperators, AddRequestsAndAliasesHoldThere) {
  NDArray x = array_of({1, 2, 3}, {}, kGpu), out = array_of({10, 10, 10}, {}, kGpu);
  const OpDef& op = Registry::get().at("square");
  const NDArray* in[] = {&x};
  NDArray* outputs[] = {&out};
  const Request add[] = {Request::kAdd};
  invoke(op, parse_attrs(op, {})->params(), in, outputs, {.requests = add});
  EXPECT_EQ(values_of(out), (Values{11, 14, 19}));
  call_into(x, "reverse", {&x}, {{"axis", "0"}});
  EXPECT_EQ(values_of(x), (Values{3, 2, 1}));
}

// Two layers, a loss, gradients and updates: nothing leaves the device between steps.
TEST(GpuOperators, ASmallNetworkTrainsAsOnTheCpu) {
  const auto train = [](Device device) {
    std::mt19937 rng(kSeed);
    std::normal_distribution<float> normal;
    const auto random = [&](Shape shape) {
      Values values(static_cast<std::size_t>(shape.size()));
      for (float& value : values) value = normal(rng);
      return array_of(values, shape, device);
    };
    NDArray x = random(Shape{16, 8}), target = random(Shape{16, 1});
    NDArray w1 = random(Shape{12, 8}), b1 = random(Shape{12}), w2 = random(Shape{1, 12});
    NDArray* const weights[] = {&w1, &b1, &w2};
    for (int step = 0; step < 5; ++step) {
      std::vector<NDArray> gradients;
      for (NDArray* weight : weights) {
        const Values zeros(static_cast<std::size_t>(weight->shape().size()));
        gradients.push_back(array_of(zeros, weight->shape(), device));
        mark_variable(*weight, Request::kWrite, gradients.back());
      }
      NDArray loss;
      {
        const Recording recording;
        NDArray hidden = call("FullyConnected", {&x, &w1, &b1}, {{"num_hidden", "12"}});
        NDArray active = call("tanh", {&hidden});
        NDArray y =
            call("FullyConnected", {&active, &w2}, {{"num_hidden", "1"}, {"no_bias", "True"}});
        NDArray error = call("elemwise_sub", {&y, &target});
        NDArray squares = call("square", {&error});
        loss = call("mean", {&squares});
      }
      backward_from(loss);
      for (std::size_t i = 0; i < 3; ++i)
        call_into(*weights[i], "sgd_update", {weights[i], &gradients[i]}, {{"lr", "0.1"}});
    }
    return values_of(w2);
  };
  const Values expected = train(Device::cpu()), result = train(kGpu);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(result[i], expected[i], 1e-4) << "seed " << kSeed;
}

}  // namespace
}  // namespace mxnet
