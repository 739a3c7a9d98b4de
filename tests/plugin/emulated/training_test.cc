// SPDX-License-Identifier: Apache-2.0
// Elementwise functions with parameters, and what training steps ask and do: finite gradients,
// rates and factors that lie in arrays, updates of many weights.
#include <gtest/gtest.h>

#include <cmath>

#include "op/run/read_back.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

constexpr const char* kReal[] = {"float32", "float16", "float64"};

TEST(GpuParametric, FunctionsOfOneNumber) {
  constexpr int64_t kSize = 67;  // packs of 16 bytes, and some behind them
  for (const char* dtype : {"float32", "float16", "float64", "int32", "int8", "uint8", "int64"}) {
    const bool real = dtype[0] == 'f';
    const float low = dtype[0] == 'u' ? 0.0f : -9.0f;
    const Input x{random_values(kSize, low, 9), Shape{kSize}, dtype};
    expect_same_outputs("smooth_l1", {x}, {{"scalar", "2"}});
    expect_same_outputs("_contrib_quadratic", {x}, {{"a", "2"}, {"b", "-1"}, {"c", "3"}});
    for (const char* decimals : {"-1", "0", "2"})
      expect_same_outputs("_npi_around", {x}, {{"decimals", decimals}});
    expect_same_outputs("_npi_nan_to_num", {x});
    expect_same_outputs("_contrib_div_sqrt_dim", {x});
    if (!real) continue;
    const Input dy{random_values(kSize, -3, 3), Shape{kSize}, dtype};
    expect_same_outputs("_backward_smooth_l1", {dy, x}, {{"scalar", "0.7"}});
    expect_same_outputs("hard_sigmoid", {x});
    expect_same_outputs("_backward_hard_sigmoid", {dy, x}, {{"alpha", "0.3"}});
    const Input odd{{NAN, INFINITY, -INFINITY, 1, -0.0f}, {}, dtype};
    expect_same_outputs("_npi_nan_to_num", {odd});
    expect_same_outputs("_npi_nan_to_num", {odd},
                        {{"nan", "2"}, {"posinf", "8"}, {"neginf", "-9"}});
    expect_same_outputs("_backward_nan_to_num", {{{1, 2, 3, 4, 5}, {}, dtype}, odd});
  }
}

TEST(GpuParametric, BentLinesAreTheCpus) {
  for (const char* dtype : kReal) {
    const double tolerance = dtype[5] == '1' ? 1e-2 : 1e-6;
    const Input x{random_values(2 * 3 * 25, -4, 4), Shape{2, 3, 5, 5}, dtype};
    const Input dy{random_values(2 * 3 * 25 + 1, -4, 4), Shape{2, 3, 5, 5}, dtype};
    Input dy_fits = dy;
    dy_fits.values.pop_back();
    const Attrs prelu = {{"act_type", "prelu"}};
    for (const Input& gamma : {Input{{0.25f}, {}, dtype}, Input{{0.5f, -1, 0}, {}, dtype},
                               Input{{0.5f, 2, 0.125f}, Shape{1, 3, 1, 1}, dtype}}) {
      expect_same_outputs("LeakyReLU", {x, gamma}, prelu);
      expect_same_outputs("_backward_LeakyReLU", {dy_fits, x, gamma}, prelu, tolerance);
    }
    for (const char* type : {"elu", "gelu", "selu", "leaky"}) {
      expect_same_outputs("LeakyReLU", {x}, {{"act_type", type}}, tolerance);
      expect_same_outputs("_backward_LeakyReLU", {dy_fits, x}, {{"act_type", type}}, tolerance);
    }
    expect_same_outputs("LeakyReLU", {x}, {{"act_type", "rrelu"}});  // not training: no draws
    expect_same_outputs("_backward_LeakyReLU", {dy_fits, x, dy_fits}, {{"act_type", "rrelu"}});
  }
}

TEST(GpuParametric, WhatIsNoNumberHasTheSlopeOfNegativeOnes) {
  for (const char* dtype : kReal) {
    const Input x{{NAN, -1, 2, 0}, Shape{1, 4}, dtype}, dy{{1, 2, 3, 4}, Shape{1, 4}, dtype};
    const Input gamma{{0.25f}, {}, dtype}, slopes{{0.5f, 0.25f, 0.125f, 2}, Shape{1, 4}, dtype};
    expect_same_outputs("_backward_LeakyReLU", {dy, x, gamma}, {{"act_type", "prelu"}});
    expect_same_outputs("_backward_LeakyReLU", {dy, x, slopes}, {{"act_type", "rrelu"}});
  }
}

TEST(GpuTraining, RowsOfLengthOne) {
  for (const char* dtype : kReal) {
    const double tolerance = dtype[5] == '1' ? 2e-3 : 1e-5;
    const Shape shape{2, 3, 4, 5};
    const Input x{random_values(shape.size(), -2, 2), shape, dtype};
    const Input dy{random_values(shape.size(), -1, 1), shape, dtype};
    for (const char* mode : {"instance", "channel", "spatial"}) {
      const Attrs attrs = {{"mode", mode}, {"eps", "0.01"}};
      expect_same_outputs("L2Normalization", {x}, attrs, tolerance);
      const Shape norms = mode[0] == 'i'   ? Shape{2}
                          : mode[0] == 'c' ? Shape{2, 1, 4, 5}
                                           : Shape{2, 3};
      expect_same_outputs("_backward_L2Normalization",
                          {dy, x, {random_values(norms.size(), 1, 3), norms, dtype}}, attrs,
                          tolerance);
    }
  }
}

TEST(GpuTraining, MomentsAboutTheMean) {
  for (const char* dtype : {"float32", "float16", "float64", "int32", "int64"}) {
    const Input x{random_values(3 * 40 * 4, 90, 99), Shape{3, 40, 4}, dtype};
    for (const char* axis : {"1", "(0, 2)", "-1"}) {
      for (const char* keepdims : {"True", "False"}) {
        expect_same_outputs("moments", {x}, {{"axes", axis}, {"keepdims", keepdims}}, 1e-6);
        const Attrs attrs = {{"axis", axis}, {"keepdims", keepdims}, {"ddof", "1"}};
        expect_same_outputs("_npi_var", {x}, attrs, 1e-6);
        expect_same_outputs("_npi_std", {x}, attrs, 1e-6);
      }
    }
  }
}

TEST(GpuTraining, GradientsOfLosses) {
  for (const char* dtype : kReal) {
    const Shape shape{4, 9};
    const Input x{random_values(36, -2, 2), shape, dtype};
    for (const char* normalization : {"null", "batch", "valid"})
      expect_same_outputs(
          "_backward_MakeLoss", {x},
          {{"grad_scale", "3"}, {"valid_thresh", "0.25"}, {"normalization", normalization}});
    Input label = x;
    for (std::size_t i = 0; i < label.values.size(); i += 3) label.values[i] += 0.5f;
    label.values[1] -= 0.25f;
    label.values[2] = NAN;
    expect_same_outputs("_backward_mae_reg_out", {label, x}, {{"grad_scale", "0.7"}});
  }
}

TEST(GpuTraining, AllElementsAreFinite) {
  for (const char* dtype : kReal) {
    const Input good{random_values(70, -9, 9), Shape{70}, dtype};
    for (const float wrong : {NAN, INFINITY, -INFINITY, 1.0f}) {
      Values values = random_values(33, -9, 9);
      values[32] = wrong;
      const Input other{values, {}, dtype};
      expect_same_outputs("all_finite", {other});
      expect_same_outputs("multi_all_finite", {good, other}, {{"num_arrays", "2"}});
    }
    const Input few{{0, 2, 0.5f, 4}, {}, dtype}, rates{{1, 2, 3, 4}, {}, dtype};
    expect_same_outputs("multi_lars", {rates, few, rates, few},
                        {{"eta", "0.5"}, {"eps", "0.25"}, {"rescale_grad", "0.5"}}, 1e-6);
  }
  NDArray bad = array_of({1, NAN}, {}, kGpu), good = array_of({1, 2}, {}, kGpu);
  NDArray flag = array_of({1}, {}, kGpu);
  call_into(flag, "all_finite", {&bad}, {{"init_output", "False"}});
  EXPECT_EQ(values_of(flag), (Values{0}));
  call_into(flag, "all_finite", {&good}, {{"init_output", "False"}});
  EXPECT_EQ(values_of(flag), (Values{0}));  // joined to what was there
  call_into(flag, "all_finite", {&good});
  EXPECT_EQ(values_of(flag), (Values{1}));
}

// A weight, a gradient and states; of mixed precision the master copy too.
std::vector<Input> parameters(int states, const char* dtype, bool mixed) {
  constexpr int64_t kSize = 37;
  std::vector<Input> all;
  for (int i = 0; i < 2; ++i) all.push_back({random_values(kSize + i, -3, 3), {}, dtype});
  all[1].values.resize(kSize);
  for (int i = 0; i < states; ++i)
    all.push_back({random_values(kSize, 0.5f, 3), {}, mixed ? "float32" : dtype});
  if (mixed) all.push_back({all[0].values, {}, "float32"});
  return all;
}

TEST(GpuTraining, FactorsThatLieInArrays) {
  const Attrs adamw = {{"lr", "0.1"}, {"eta", "0.5"}, {"wd", "0.01"}};
  for (const float scale : {0.5f, 0.0f, INFINITY}) {
    std::vector<Input> plain = parameters(2, "float32", false);
    plain.push_back({{scale}});
    expect_same_outputs("_adamw_update", plain, adamw, 1e-6);
    std::vector<Input> mixed = parameters(2, "float16", true);
    mixed.push_back({{scale}});
    expect_same_outputs("_mp_adamw_update", mixed, adamw, 1e-6);

    std::vector<Input> two = parameters(2, "float32", false);
    for (const Input& input : parameters(2, "float32", false)) two.push_back(input);
    two.push_back({{scale}});
    expect_same_outputs(
        "_multi_adamw_update", two,
        {{"lrs", "(0.1, 0.2)"}, {"wds", "(0.01, 0)"}, {"etas", "(1, 0.5)"}, {"num_weights", "2"}},
        1e-6);
  }
  const std::vector<Input> weights = parameters(0, "float32", false);
  expect_same_outputs("lamb_update_phase2", {weights[0], weights[1], {{2}}, {{0.5f}}},
                      {{"lr", "0.1"}}, 1e-6);
  expect_same_outputs("reset_arrays", {weights[0], weights[1]}, {{"num_arrays", "2"}});
}

TEST(GpuTraining, AStepThatIsLeftOutChangesNothing) {
  for (const float scale : {NAN, 0.5f}) {
    Values weights[2];
    const Device devices[] = {Device::cpu(), kGpu};
    for (int d = 0; d < 2; ++d) {
      std::vector<NDArray> arrays;
      for (const Input& input : parameters(2, "float32", false))
        arrays.push_back(input.on(devices[d]));
      NDArray factor = array_of({scale}, {}, devices[d]);
      const Values before = values_of(arrays[0]);
      call_into(arrays[0], "_adamw_update",
                {&arrays[0], &arrays[1], &arrays[2], &arrays[3], &factor},
                {{"lr", "0.1"}, {"eta", "0.5"}});
      weights[d] = values_of(arrays[0]);
      EXPECT_EQ(weights[d] == before, std::isnan(scale));
    }
    ASSERT_EQ(weights[1].size(), weights[0].size());
    for (std::size_t i = 0; i < weights[0].size(); ++i)
      EXPECT_NEAR(weights[1][i], weights[0][i], 1e-6);
  }
}

TEST(GpuTraining, TheHostWaitsForNoNumberOfAStep) {
  for (const char* op :
       {"_adamw_update", "_mp_adamw_update", "_multi_adamw_update", "_multi_mp_adamw_update",
        "lamb_update_phase2", "mp_lamb_update_phase2", "_multi_lamb_update",
        "_multi_mp_lamb_update", "preloaded_multi_sgd_update", "preloaded_multi_mp_sgd_mom_update"})
    EXPECT_FALSE(waits_for_device(Registry::get().at(op))) << op;
}

TEST(GpuTraining, ManyWeightsByOneOperation) {
  std::vector<Input> rates = parameters(1, "float32", false);
  for (const Input& input : parameters(1, "float32", false)) rates.push_back(input);
  rates.push_back({{0.1f, 0.2f}});
  rates.push_back({{0.01f, 0}});
  expect_same_outputs("preloaded_multi_sgd_mom_update", rates,
                      {{"momentum", "0.9"}, {"num_weights", "2"}}, 1e-6);
  for (const bool mixed : {false, true}) {
    const char* dtype = mixed ? "float16" : "float32";
    std::vector<Input> lamb = parameters(2, dtype, mixed);
    for (const Input& input : parameters(2, dtype, mixed)) lamb.push_back(input);
    expect_same_outputs(mixed ? "_multi_mp_lamb_update" : "_multi_lamb_update", lamb,
                        {{"learning_rates", "(0.1, 0.2)"},
                         {"wds", "(0.01, 0)"},
                         {"step_count", "(1, 3)"},
                         {"num_tensors", "2"}},
                        mixed ? 1e-3 : 1e-5);
  }
}

TEST(GpuTraining, AdaGradByRows) {
  for (const char* dtype : {"float32", "float64", "float16"}) {
    const Input weight{random_values(28, -2, 2), Shape{4, 7}, dtype};
    const Input gradient{random_values(28, -1, 3), Shape{4, 7}, dtype};
    const Input history{random_values(4, 0, 2), Shape{4, 1}, dtype};
    expect_same_outputs("_contrib_group_adagrad_update", {weight, gradient, history},
                        {{"lr", "0.1"}, {"rescale_grad", "0.5"}, {"clip_gradient", "0.75"}},
                        std::string_view(dtype) == "float16" ? 2e-3 : 1e-6);
  }
}

}  // namespace
}  // namespace mxnet
