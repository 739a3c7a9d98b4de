// SPDX-License-Identifier: Apache-2.0
// Operators on the plug-in's own kernels, run in host memory: from the call through dispatch, the
// engine and the launch to the numbers, which are those of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>
#include <utility>

#include "device/device_registry.h"
#include "op/run/gpu.h"
#include "tests/exec/arrays.h"
#include "tests/plugin/emulated/both_devices.h"
#include "tests/plugin/emulated/host_math.h"  // before what is in words of CUDA
#include "tests/setting.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

TEST(GpuOperators, KernelsComeFromThePlugin) {
  ASSERT_NE(gpu_table(), nullptr);
  EXPECT_STREQ(cuda_plugin()->description, "CUDA runtime 13000");
  EXPECT_STREQ(gpu_kernel(Registry::get().at("transpose"))->name, "portable");
  EXPECT_STREQ(gpu_kernel(Registry::get().at("FullyConnected"))->name, "cuda");
}

TEST(GpuOperators, FunctionsOfElementsAreTheCpus) {
  for (const char* op : {"exp", "erf", "gammaln", "rsqrt", "floor", "relu", "erfinv", "arccos"})
    expect_same(op, {Shape{7, 33}});
  for (const char* op : {"elemwise_add", "_hypot", "_mod", "_power", "_greater"})
    expect_same(op, {Shape{5, 13}, Shape{5, 13}});
  expect_same("_rdiv_scalar", {Shape{100}}, {{"scalar", "0.3"}});
  expect_same("Activation", {Shape{40}}, {{"act_type", "softrelu"}});
}

// Beside a pole the distance from it decides: pi times a number of several digits has none of it.
TEST(GpuOperators, TheSlopeOfLgammaBesideItsPolesIsTheCpus) {
  Values found[2];
  for (int d = 0; d < 2; ++d) {
    Input poles{{-1, -2, -7, -1000, -4000000}, Shape{5}};
    poles.dtype = "float64";
    NDArray at = poles.on(d == 0 ? Device::cpu() : kGpu);
    NDArray x = call("_plus_scalar", {&at}, {{"scalar", "1e-8"}}), ones = call("ones_like", {&x});
    for (const float value : values_as_float(call("_backward_gammaln", {&ones, &x})))
      found[d].push_back(value);
    NDArray none = call("_backward_gammaln", {&ones, &at});  // at the poles themselves
    for (const float value : values_as_float(none)) EXPECT_TRUE(std::isnan(value));
  }
  for (std::size_t i = 0; i < found[0].size(); ++i)
    EXPECT_NEAR(found[1][i], found[0][i], 1e-6 * std::fabs(found[0][i])) << i;
}

TEST(GpuOperators, BroadcastInEveryDimension) {
  expect_same("broadcast_add", {Shape{3, 1, 5}, Shape{1, 4, 5}});
  expect_same("broadcast_mul", {Shape{3, 4, 1}, Shape{3, 1, 2}});
  expect_same("broadcast_power", {Shape{1}, Shape{6, 5}});
  expect_same("broadcast_lesser", {Shape{2, 1, 3, 1}, Shape{1, 4, 1, 5}});
  // Lines that are whole packs of 16 bytes, and that are not; one element that meets a line.
  struct Case {
    Shape a, b;
  };
  for (const Case& c :
       {Case{Shape{5, 48}, Shape{1, 48}}, Case{Shape{1, 48}, Shape{5, 48}},
        Case{Shape{2, 3, 16}, Shape{1, 3, 1}}, Case{Shape{3, 1}, Shape{3, 32}},
        Case{Shape{2, 3, 1, 16}, Shape{2, 1, 4, 16}}, Case{Shape{4, 1, 16}, Shape{1, 7, 1}},
        Case{Shape{5, 20}, Shape{1, 20}}, Case{Shape{16, 1}, Shape{1, 3}}}) {
    for (const char* dtype : {"uint8", "float16", "float32", "float64"})
      for (const char* op : {"broadcast_sub", "broadcast_maximum"})
        expect_same_outputs(op, {{random_values(c.a.size(), 4, 9), c.a, dtype},
                                 {random_values(c.b.size(), 0, 4), c.b, dtype}});
  }
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

TEST(GpuOperators, MovedElementsLieWhereTheCpuPutsThem) {
  expect_same("transpose", {Shape{3, 4, 5}}, {{"axes", "(2,0,1)"}});
  expect_same("slice", {Shape{8, 9}}, {{"begin", "(1,8)"}, {"end", "(7,0)"}, {"step", "(2,-3)"}});
  expect_same("reverse", {Shape{4, 5}}, {{"axis", "(0,1)"}});
  expect_same("_copyto", {Shape{5, 7}});
  expect_same("tile", {Shape{2, 3}}, {{"reps", "(3,1,2)"}});
  expect_same("Concat", {Shape{2, 3}, Shape{2, 5}}, {{"num_args", "2"}, {"dim", "1"}});
  expect_same("diag", {Shape{4, 6}}, {{"k", "1"}});
  expect_same("take", {Shape{6, 4}, Shape{3}}, {{"axis", "1"}, {"mode", "wrap"}});
}

// By tiles: whole ones, what is left over of them, several matrices, elements of each size, two of
// which move as one, and lines that are too short for tiles.
TEST(GpuOperators, TransposedElementsOfEverySizeLieWhereTheCpuPutsThem) {
  struct Case {
    Shape shape;
    const char* axes;
  };
  for (const Case& c : {Case{Shape{64, 64}, "(1,0)"}, Case{Shape{100, 67}, "(1,0)"},
                        Case{Shape{16, 200}, "(1,0)"}, Case{Shape{3, 33, 5, 19}, "(0,2,3,1)"},
                        Case{Shape{2, 70, 3, 40}, "(3,2,1,0)"}, Case{Shape{40, 3, 17}, "(2,1,0)"},
                        Case{Shape{35, 40, 2}, "(1,0,2)"}, Case{Shape{15, 100}, "(1,0)"}}) {
    for (const char* dtype : {"uint8", "float16", "float32", "float64"})
      expect_same_outputs("transpose", {{random_values(c.shape.size(), 0, 100), c.shape, dtype}},
                          {{"axes", c.axes}});
  }
  expect_same("SwapAxis", {Shape{20, 3, 50}}, {{"dim1", "0"}, {"dim2", "2"}});
  expect_same("space_to_depth", {Shape{2, 3, 64, 32}}, {{"block_size", "2"}});
}

// The kernel of MXNET_ENFORCE_DETERMINISM, which adds in the order of the host: bit for bit.
TEST(GpuOperators, RowsThatMeetAreAddedInTheOrderOfThePositionsWhereResultsMustRepeat) {
  const Setting repeat("MXNET_ENFORCE_DETERMINISM", "1");
  std::mt19937 rng(kSeed);
  std::uniform_real_distribution<float> uniform(-1e4f, 1e4f);
  Values slopes(50 * 3), positions(50);
  for (float& slope : slopes) slope = uniform(rng);
  for (float& position : positions) position = static_cast<float>(rng() % 7);
  const auto gradient = [&](Device device, const char* op, const Shape& in, const Attrs& attrs) {
    NDArray dy = array_of(slopes, Shape{50, 3}, device), table(in, DType::kFloat32, device);
    NDArray at = array_of(positions, Shape{50}, device);
    return values_of(call(op, {&dy, &at, &table}, attrs));
  };
  const Attrs attrs{{"input_dim", "9"}, {"output_dim", "3"}};
  EXPECT_EQ(gradient(kGpu, "_backward_Embedding", Shape{9, 3}, attrs),
            gradient(Device::cpu(), "_backward_Embedding", Shape{9, 3}, attrs));
  EXPECT_EQ(gradient(kGpu, "_backward_take", Shape{5, 3}, {{"mode", "wrap"}}),
            gradient(Device::cpu(), "_backward_take", Shape{5, 3}, {{"mode", "wrap"}}));
}

TEST(GpuOperators, ProductsOfMatrices) {
  expect_same("dot", {Shape{7, 5}, Shape{5, 6}});
  expect_same("dot", {Shape{5, 7}, Shape{6, 5}}, {{"transpose_a", "1"}, {"transpose_b", "1"}});
  expect_same("batch_dot", {Shape{3, 4, 5}, Shape{3, 6, 5}}, {{"transpose_b", "1"}});
  expect_same("_npi_matmul", {Shape{2, 1, 4, 5}, Shape{3, 5, 6}});
  expect_same("FullyConnected", {Shape{4, 3, 5}, Shape{6, 15}, Shape{6}}, {{"num_hidden", "6"}});
}

TEST(GpuOperators, ProductsOfIntegersWrap) {
  const std::pair<Shape, Shape> shapes[] = {
      {Shape{5}, Shape{5}},          {Shape{4, 5}, Shape{5}},       {Shape{7, 65}, Shape{65, 9}},
      {Shape{2, 3, 4}, Shape{4, 3}}, {Shape{3, 2100}, Shape{2100}}, {Shape{4, 0}, Shape{0, 3}}};
  for (const char* dtype : {"int8", "uint8", "int32", "int64"}) {
    for (const auto& [left, right] : shapes) {
      const Input a{random_values(left.size(), 1, 120), left, dtype};
      const Input b{random_values(right.size(), 1, 120), right, dtype};
      expect_same_outputs("_np_dot", {a, b});
    }
    const Input a{random_values(20, 1, 120), Shape{5, 4}, dtype};
    const Input b{random_values(15, 1, 120), Shape{3, 5}, dtype};
    expect_same_outputs("_npi_einsum", {a, b}, {{"subscripts", "mi,jm->ij"}, {"num_args", "2"}});
  }
}

TEST(GpuOperators, ElementsPickedFromLines) {
  expect_same("pick", {Shape{5, 7}, Shape{5}});
  expect_same("pick", {Shape{5, 3, 4}, Shape{5, 4}}, {{"axis", "1"}, {"mode", "wrap"}});
  expect_same("_backward_pick", {Shape{5}, Shape{5, 7}, Shape{5}});
}

// Result, gradients and moving averages of a normalised layer, on both devices.
TEST(GpuOperators, BatchNormalisationTrainsAsOnTheCpu) {
  // Channels that a thread loads one by one, and some at once.
  for (const auto& [axis, channels] :
       {std::pair("1", 3), {"3", 3}, {"1", 8}, {"3", 8}, {"3", 12}}) {
    const int64_t c = channels;
    const auto train = [&, axis = axis](Device device) {
      std::mt19937 rng(kSeed);
      std::normal_distribution<float> normal(1.0f, 2.0f);
      const auto random = [&](Shape shape) {
        Values values(static_cast<std::size_t>(shape.size()));
        for (float& value : values) value = normal(rng);
        return array_of(values, shape, device);
      };
      const Shape shape{4, c, 50, c};
      NDArray x = random(shape), gamma = random(Shape{c}), beta = random(Shape{c});
      const Values zeros(static_cast<std::size_t>(c)), ones(zeros.size(), 1);
      NDArray mean = array_of(zeros, {}, device), var = array_of(ones, {}, device);
      NDArray factors = random(shape);
      NDArray dx = array_of(Values(static_cast<std::size_t>(shape.size())), shape, device);
      NDArray dgamma = array_of(zeros, {}, device);
      mark_variable(x, Request::kWrite, dx);
      mark_variable(gamma, Request::kWrite, dgamma);
      NDArray loss;
      {
        const Recording recording;
        NDArray y = call("BatchNorm", {&x, &gamma, &beta, &mean, &var},
                         {{"axis", axis}, {"fix_gamma", "False"}, {"momentum", "0.8"}});
        NDArray scaled = call("elemwise_mul", {&y, &factors});
        loss = call("sum", {&scaled});
      }
      backward_from(loss);
      Values all = values_of(dx);
      for (const NDArray* array : {&dgamma, &mean, &var, &loss})
        for (const float value : values_of(*array)) all.push_back(value);
      return all;
    };
    const Values expected = train(Device::cpu()), result = train(kGpu);
    ASSERT_EQ(result.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(result[i], expected[i], 2e-4 * (1 + std::fabs(expected[i])))
          << i << ", axis " << axis << ", seed " << kSeed;
  }
}

// What reads and writes 16 bytes at once: arrays that are views begin anywhere between those.
TEST(GpuOperators, ArraysMayBeginWithinSixteenBytes) {
  for (const char* dtype : {"float32", "float16"}) {
    const double tolerance = std::string_view(dtype) == "float16" ? 1e-2 : 1e-4;
    for (const int64_t behind : {1, 3, 4, 8}) {
      const auto rows = [&](int64_t count, float low) {
        return Input{random_values(count * 64, low, 4), Shape{count, 64}, dtype, behind};
      };
      const Input gamma{random_values(64, 0, 1), Shape{64}, dtype, behind};
      expect_same_outputs("softmax", {rows(5, -4)}, {}, tolerance);
      expect_same_outputs("_backward_softmax", {rows(5, -4), rows(5, 0), rows(5, -4)}, {},
                          16 * tolerance);
      expect_same_outputs("LayerNorm", {rows(5, -4), gamma, gamma}, {}, tolerance);
      for (const char* axis : {"0", "1", "()"})
        expect_same_outputs("sum", {rows(40, -4)}, {{"axis", axis}}, tolerance);
      expect_same_outputs("broadcast_sub", {rows(5, -4), gamma});
      expect_same_outputs("exp", {rows(5, -4)}, {}, tolerance);
      expect_same_outputs("elemwise_add", {rows(5, -4), rows(5, 0)});
      expect_same_outputs("transpose", {rows(40, -4)});
      // Written where the rows lie: fills, and what comes from other types.
      for (const Device device : {Device::cpu(), kGpu}) {
        NDArray out = rows(5, 0).on(device), other = rows(5, 1).on(device);
        call_into(out, "_full", {}, {{"shape", "(5, 64)"}, {"value", "2.5"}, {"dtype", dtype}});
        EXPECT_EQ(values_as_float(out), Values(5 * 64, 2.5f)) << dtype << behind;
        call_into(out, "_copy", {&other});
        EXPECT_EQ(values_as_float(out), values_as_float(other)) << dtype << behind;
      }
    }
  }
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
