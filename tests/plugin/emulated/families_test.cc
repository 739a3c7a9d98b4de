// SPDX-License-Identifier: Apache-2.0
// Families of operators on the plug-in's kernels: conditions, places, normalised rows, losses,
// attention. The numbers are those of the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "op/run/gpu.h"
#include "tests/exec/arrays.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

TEST(GpuFamilies, ArraysAreChosenByConditions) {
  expect_same("_npi_where", {Shape{4, 1}, Shape{1, 5}, Shape{4, 5}});
  expect_same("_npi_where_lscalar", {Shape{3, 4}, Shape{4}}, {{"scalar", "7"}});
  expect_same("_backward_where", {Shape{3, 4}, Shape{3}}, {{"left", "False"}});
  NDArray condition = array_of({0, 1, 0}, {}, kGpu);
  NDArray x = array_of({1, 2, 3, 4, 5, 6}, Shape{3, 2}, kGpu);
  NDArray y = array_of({-1, -2, -3, -4, -5, -6}, Shape{3, 2}, kGpu);
  EXPECT_EQ(values_of(call("where", {&condition, &x, &y})), (Values{-1, -2, 3, 4, -5, -6}));
  NDArray positions = array_of({2, 0, 5, -1, NAN}, {}, kGpu);
  EXPECT_EQ(values_of(call("one_hot", {&positions}, {{"depth", "3"}, {"off_value", "9"}})),
            (Values{9, 9, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}));
}

// Answers of 67 numbers, so that packs of 16 bytes and the rest behind them are asked.
TEST(GpuFamilies, QuestionsAndNegationsOfEveryKindOfNumber) {
  constexpr int kSize = 67;
  const float kinds[] = {0, -0.0f, 1, -2.5f, INFINITY, -INFINITY, NAN, 3e38f};
  Values numbers;
  for (int i = 0; i < kSize; ++i) numbers.push_back(kinds[i % 8]);
  for (const char* dtype : {"float32", "float16", "float64", "int32", "uint8", "int64", "bool"}) {
    const bool whole = dtype[0] != 'f';
    const auto typed = [&](Device device) {
      Values values = numbers;
      for (float& value : values)
        if (whole) value = std::isfinite(value) && std::fabs(value) < 3 ? std::fabs(value) : 7;
      NDArray plain = array_of(values, {}, device);
      return call("Cast", {&plain}, {{"dtype", dtype}});
    };
    NDArray host = typed(Device::cpu()), gpu = typed(kGpu);
    const auto both = [&](const char* op) {
      const NDArray want = call(op, {&host}), got = call(op, {&gpu});
      EXPECT_EQ(got.device(), kGpu) << op;
      EXPECT_EQ(got.dtype(), want.dtype()) << op;
      // As float32, which is what tests read.
      const auto read = [](NDArray array) {
        return values_of(call("Cast", {&array}, {{"dtype", "float32"}}));
      };
      EXPECT_EQ(read(got), read(want)) << op << " of " << dtype;
    };
    for (const char* op : {"_npi_isnan", "_npi_isinf", "_npi_isfinite", "_npi_isposinf",
                           "_npi_isneginf", "_npi_logical_not"})
      both(op);
    if (std::string_view(dtype) != "bool") both("logical_not");
    if (whole) both("_npi_bitwise_not");
  }
  NDArray x = array_of({NAN, INFINITY, 0, -INFINITY}, {}, kGpu);
  NDArray nan = call("_npi_isnan", {&x}), infinite = call("_npi_isinf", {&x});
  EXPECT_EQ(values_of(call("Cast", {&nan}, {{"dtype", "float32"}})), (Values{1, 0, 0, 0}));
  EXPECT_EQ(values_of(call("Cast", {&infinite}, {{"dtype", "float32"}})), (Values{0, 1, 0, 1}));
}

TEST(GpuFamilies, StraightThroughEstimators) {
  NDArray x = array_of({-2.5f, -0.3f, 0, 0.5f, 1.5f}, {}, kGpu);
  EXPECT_EQ(values_of(call("_contrib_round_ste", {&x})), (Values{-3, 0, 0, 1, 2}));
  EXPECT_EQ(values_of(call("_contrib_sign_ste", {&x})), (Values{-1, -1, 0, 1, 1}));
}

TEST(GpuFamilies, PlacesOfExtremeElements) {
  for (const char* op : {"argmax", "argmin"}) {
    expect_same(op, {Shape{3, 70, 5}}, {{"axis", "1"}});
    expect_same(op, {Shape{2, 40, 40}}, {{"axis", "1"}});
    expect_same(op, {Shape{3, 3000}}, {{"axis", "-1"}});
  }
  NDArray x = array_of({1, 5, NAN, 5, NAN, 7}, Shape{2, 3}, kGpu);
  EXPECT_EQ(values_of(call("argmax", {&x}, {{"axis", "1"}})), (Values{2, 1}));
  NDArray ties = array_of({4, 4, 1, 1}, {}, kGpu);
  EXPECT_EQ(values_of(call("argmin", {&ties}, {{"axis", "0"}})), (Values{2}));
}

TEST(GpuFamilies, RowsAreNormalised) {
  expect_same("LayerNorm", {Shape{6, 33}, Shape{33}, Shape{33}});
  expect_same("LayerNorm", {Shape{4, 8, 5}, Shape{8}, Shape{8}}, {{"axis", "1"}});
  expect_same("GroupNorm", {Shape{3, 6, 7}, Shape{2}, Shape{2}}, {{"num_groups", "2"}});
  expect_same("InstanceNorm", {Shape{3, 4, 1500}, Shape{4}, Shape{4}});
  // Rows that a warp, a block and none of these can hold, with and without whole packs.
  for (const int64_t length : {1, 64, 513, 4096, 4100}) {
    const auto of_place = [](int64_t count) { return random_values(count, 0, 2); };
    for (const char* dtype : {"float32", "float16"}) {
      const double tolerance = std::string_view(dtype) == "float16" ? 4e-3 : 2e-5;
      expect_same_outputs("LayerNorm",
                          {{random_values(3 * length, -4, 4), Shape{3, length}, dtype},
                           {of_place(length), Shape{length}, dtype},
                           {of_place(length), Shape{length}, dtype}},
                          {}, tolerance);
    }
  }
  // Gradients of the data and of both parameters.
  struct Case {
    const char* op;
    Shape shape, parameters;
    Attrs attrs;
  };
  for (const Case& c : {Case{"LayerNorm", Shape{100, 20}, Shape{20}, {}},
                        Case{"LayerNorm", Shape{40, 33}, Shape{33}, {}},
                        Case{"LayerNorm", Shape{5, 513}, Shape{513}, {}},
                        Case{"LayerNorm", Shape{40, 600}, Shape{600}, {}},
                        Case{"LayerNorm", Shape{2, 4096}, Shape{4096}, {}},
                        Case{"LayerNorm", Shape{2, 5000}, Shape{5000}, {}},
                        Case{"LayerNorm", Shape{5, 6, 7}, Shape{6}, {{"axis", "1"}}},
                        Case{"LayerNorm", Shape{2, 200, 3}, Shape{200}, {{"axis", "1"}}},
                        Case{"InstanceNorm", Shape{4, 3, 9}, Shape{3}, {}},
                        Case{"InstanceNorm", Shape{2, 3, 200}, Shape{3}, {}}}) {
    const auto gradients = [&](Device device) {
      std::mt19937 rng(kSeed);
      std::normal_distribution<float> normal(1.0f, 2.0f);
      const auto random = [&](Shape shape) {
        Values values(static_cast<std::size_t>(shape.size()));
        for (float& value : values) value = normal(rng);
        return array_of(values, shape, device);
      };
      const auto zeros = [&](const NDArray& like) {
        return array_of(Values(static_cast<std::size_t>(like.shape().size())), like.shape(),
                        device);
      };
      NDArray x = random(c.shape), gamma = random(c.parameters), beta = random(c.parameters);
      NDArray factors = random(c.shape), dx = zeros(x), dgamma = zeros(gamma), dbeta = zeros(beta);
      mark_variable(x, Request::kWrite, dx);
      mark_variable(gamma, Request::kWrite, dgamma);
      mark_variable(beta, Request::kWrite, dbeta);
      NDArray loss;
      {
        const Recording recording;
        NDArray y = call(c.op, {&x, &gamma, &beta}, c.attrs);
        NDArray scaled = call("elemwise_mul", {&y, &factors});
        loss = call("sum", {&scaled});
      }
      backward_from(loss);
      Values all = values_of(dx);
      for (const NDArray* array : {&dgamma, &dbeta})
        for (const float value : values_of(*array)) all.push_back(value);
      return all;
    };
    const Values expected = gradients(Device::cpu()), result = gradients(kGpu);
    ASSERT_EQ(result.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(result[i], expected[i], 2e-4 * (1 + std::fabs(expected[i])))
          << c.op << " [" << i << "], seed " << kSeed;
  }
}

TEST(GpuFamilies, GradientsOfLosses) {
  for (const char* normalization : {"null", "batch", "valid"})
    for (const char* multi : {"0", "1"}) {
      const Attrs attrs{{"normalization", normalization},
                        {"multi_output", multi},
                        {"use_ignore", "1"},
                        {"ignore_label", "2"},
                        {"grad_scale", "3"},
                        {"smooth_alpha", "0.1"}};
      const auto slope = [&](Device device) {
        const bool lines = *multi == '1';
        NDArray label = lines ? array_of({0, 2, 1, 1.5f, -1, 3, 2, 0}, Shape{2, 4}, device)
                              : array_of({0, 2}, {}, device);
        Values values(24);
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = 0.01f * static_cast<float>(i * i % 17);
        NDArray out = array_of(values, lines ? Shape{2, 3, 4} : Shape{2, 12}, device);
        return values_of(call("_backward_SoftmaxOutput", {&label, &out}, attrs));
      };
      const Values expected = slope(Device::cpu()), result = slope(kGpu);
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(result[i], expected[i], 1e-6) << i << ", " << normalization << ", " << multi;
    }
  expect_same("_backward_SoftmaxOutput", {Shape{5, 7}, Shape{5, 7}}, {{"out_grad", "1"}});
  for (const char* op : {"_backward_linear_reg_out", "_backward_logistic_reg_out"}) {
    expect_same(op, {Shape{5, 7}, Shape{5, 7}}, {{"grad_scale", "2"}});
    expect_same(op, {Shape{5}, Shape{5, 1}});
  }
  for (const char* op : {"LinearRegressionOutput", "LogisticRegressionOutput"})
    expect_same(op, {Shape{5, 7}, Shape{5, 7}});
}

TEST(GpuFamilies, IgnoredLabelsHaveNoGradientWhateverTheirScores) {
  NDArray label = array_of({1, 0}, {}, kGpu);
  NDArray out = array_of({NAN, INFINITY, 0.25f, 0.75f}, Shape{2, 2}, kGpu);
  const Attrs attrs{{"use_ignore", "1"}, {"ignore_label", "1"}};
  const NDArray slope = call("_backward_SoftmaxOutput", {&label, &out}, attrs);
  EXPECT_EQ(values_of(slope), (Values{0, 0, -0.75f, 0.75f}));
}

TEST(GpuFamilies, HeadsOfAttention) {
  const Attrs heads{{"heads", "2"}};
  expect_same("_contrib_interleaved_matmul_selfatt_qk", {Shape{5, 3, 24}}, heads);
  expect_same("_backward_interleaved_matmul_selfatt_qk", {Shape{6, 5, 5}, Shape{5, 3, 24}}, heads);
  expect_same("_contrib_interleaved_matmul_selfatt_valatt", {Shape{5, 3, 24}, Shape{6, 5, 5}},
              heads);
  expect_same("_backward_interleaved_matmul_selfatt_valatt",
              {Shape{5, 3, 8}, Shape{5, 3, 24}, Shape{6, 5, 5}}, heads);
  expect_same("_contrib_interleaved_matmul_encdec_qk", {Shape{5, 3, 8}, Shape{7, 3, 16}}, heads);
  expect_same("_backward_interleaved_matmul_encdec_qk",
              {Shape{6, 5, 7}, Shape{5, 3, 8}, Shape{7, 3, 16}}, heads);
  expect_same("_contrib_interleaved_matmul_encdec_valatt", {Shape{7, 3, 16}, Shape{6, 5, 7}},
              heads);
  expect_same("_backward_interleaved_matmul_encdec_valatt",
              {Shape{5, 3, 8}, Shape{7, 3, 16}, Shape{6, 5, 7}}, heads);
}

// Every comparing row, on numbers that are less, equal, greater and unordered, and zeros.
TEST(GpuFamilies, ComparisonsAnswerAsTheirRowsSay) {
  const Values left{1, 2, 3, 0, 0, NAN, -0.0f}, right{2, 2, 2, 0, 1, 1, 0};
  for (const char* op :
       {"broadcast_equal", "broadcast_not_equal", "broadcast_greater", "broadcast_greater_equal",
        "broadcast_lesser", "broadcast_lesser_equal", "broadcast_logical_and",
        "broadcast_logical_or", "broadcast_logical_xor"}) {
    NDArray a = array_of(left), b = array_of(right);
    NDArray on_gpu_a = array_of(left, {}, kGpu), on_gpu_b = array_of(right, {}, kGpu);
    EXPECT_EQ(values_of(call(op, {&on_gpu_a, &on_gpu_b})), values_of(call(op, {&a, &b}))) << op;
  }
}

TEST(GpuFamilies, SumsAndClippingOfArrays) {
  expect_same("add_n", {Shape{5, 7}, Shape{5, 7}, Shape{5, 7}}, {{"num_args", "3"}});
  expect_same("clip", {Shape{50}}, {{"a_min", "0.2"}, {"a_max", "0.6"}});
  expect_same("_backward_clip", {Shape{50}, Shape{50}}, {{"a_min", "0.2"}, {"a_max", "0.6"}});
  expect_same("multi_sum_sq", {Shape{50}, Shape{3, 4}}, {{"num_arrays", "2"}});
  expect_same("squeeze", {Shape{5, 1, 7, 1}});
}

}  // namespace
}  // namespace mxnet
