// SPDX-License-Identifier: Apache-2.0
// Random numbers of the plug-in's kernels: moments of every distribution, seeds, and densities,
// which are those of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "exec/imperative.h"
#include "op/generators/random_streams.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

constexpr int64_t kCount = 20000;

struct Moments {
  double mean, variance;
};
Moments moments(const Values& values) {
  double sum = 0, squares = 0;
  const auto n = static_cast<double>(values.size());
  for (const float value : values) sum += value;
  for (const float value : values) squares += (value - sum / n) * (value - sum / n);
  return {sum / n, squares / n};
}

// What is drawn on the GPU: kCount numbers of type `dtype`, or what the inputs ask for.
Values drawn(const char* op, const Attrs& attrs, const std::vector<Input>& inputs = {},
             DType dtype = DType::kFloat32) {
  RandomStreams::seed_all(kSeed);
  if (inputs.empty()) {
    std::vector<std::pair<std::string_view, std::string_view>> all(attrs.begin(), attrs.end());
    all.emplace_back("ctx", "gpu(0)");
    const ParsedAttrsRef parsed = parse_attrs(Registry::get().at(op), all);
    const int count = Registry::get().at(op).num_outputs(parsed->params().get());
    std::vector<NDArray> outputs;
    for (int i = 0; i < count; ++i) outputs.emplace_back(Shape{kCount}, dtype, kGpu);
    std::vector<NDArray*> pointers;
    for (NDArray& output : outputs) pointers.push_back(&output);
    imperative_invoke(parsed, {}, pointers);
    return values_as_float(outputs[0]);
  }
  std::vector<NDArray> arrays;
  for (const Input& input : inputs) arrays.push_back(input.on(kGpu));
  std::vector<NDArray*> pointers;
  for (NDArray& array : arrays) pointers.push_back(&array);
  const NDArray out = call_op(op, pointers, attrs)[0];
  EXPECT_EQ(out.device(), kGpu) << op;
  return values_as_float(out);
}

// Five standard errors: the seed is fixed, so that a test passes always or never.
void expect_moments(const char* op, const Attrs& attrs, double mean, double variance,
                    const std::vector<Input>& inputs = {}, DType dtype = DType::kFloat32) {
  const Values values = drawn(op, attrs, inputs, dtype);
  const Moments found = moments(values);
  ASSERT_EQ(values.size(), static_cast<std::size_t>(kCount)) << op;
  EXPECT_NEAR(found.mean, mean, 5 * std::sqrt(variance / kCount) + 1e-6) << op;
  EXPECT_NEAR(found.variance, variance, 0.15 * variance + 1e-6) << op;
  EXPECT_EQ(values, drawn(op, attrs, inputs, dtype)) << op << " does not follow its seed";
}

TEST(GpuRandom, DistributionsHaveTheirMoments) {
  const auto draw = [](Attrs attrs) {
    attrs.emplace_back("shape", "(20000,)");
    return attrs;
  };
  expect_moments("_random_gamma", draw({{"alpha", "3"}, {"beta", "2"}}), 6, 12);
  expect_moments("_random_gamma", draw({{"alpha", "0.5"}, {"beta", "1"}, {"dtype", "float64"}}),
                 0.5, 0.5, {}, DType::kFloat64);
  expect_moments("_random_poisson", draw({{"lam", "4"}}), 4, 4);
  expect_moments("_random_poisson", draw({{"lam", "40"}, {"dtype", "float16"}}), 40, 40, {},
                 DType::kFloat16);
  expect_moments("_random_negative_binomial", draw({{"k", "3"}, {"p", "0.4"}}), 4.5, 11.25);
  expect_moments("_random_generalized_negative_binomial", draw({{"mu", "2"}, {"alpha", "0.5"}}), 2,
                 4);
  expect_moments("_random_randint", draw({{"low", "-3"}, {"high", "4"}}), 0, 4, {}, DType::kInt32);
}

TEST(GpuRandom, NumbersForEachParameterOfAnArray) {
  // A thousandth of them each.
  Values first(2), second(2);
  first = {2, 2};
  second = {0.5f, 0.5f};
  const Attrs attrs{{"shape", "(10000,)"}};
  const std::vector<Input> both{{first, Shape{2}}, {second, Shape{2}}}, one{{first, Shape{2}}};
  expect_moments("_sample_uniform", attrs, 1.25, 2.25 / 12,
                 {{second, Shape{2}}, {first, Shape{2}}});
  expect_moments("_sample_normal", attrs, 2, 0.25, both);
  expect_moments("_sample_gamma", attrs, 1, 0.5, both);
  expect_moments("_sample_exponential", attrs, 0.5, 0.25, one);
  expect_moments("_sample_poisson", attrs, 2, 2, one);
  expect_moments("_sample_negative_binomial", attrs, 2, 4, both);
  // Rows have the parameters of their element.
  const Values rows = drawn("_sample_uniform", {{"shape", "(50,)"}},
                            {{{0, 10, 20}, Shape{3}}, {{1, 11, 21}, Shape{3}}});
  ASSERT_EQ(rows.size(), 150u);
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(std::floor(rows[i]), 10.0f * static_cast<float>(i / 50)) << i;
}

TEST(GpuRandom, DistributionsOfTheNumpyFrontEnd) {
  const auto sized = [](Attrs attrs) {
    attrs.emplace_back("size", "(20000,)");
    return attrs;
  };
  constexpr double kPi2 = 9.8696044010893586;
  expect_moments("_npi_uniform", sized({{"low", "1"}, {"high", "3"}}), 2, 1.0 / 3);
  expect_moments("_npi_normal", sized({{"loc", "-1"}, {"scale", "2"}}), -1, 4);
  expect_moments("_npi_gamma", sized({{"shape", "2"}, {"scale", "0.5"}}), 1, 0.5);
  expect_moments("_npi_gumbel", sized({{"loc", "0"}, {"scale", "1"}}), 0.57721566490153286,
                 kPi2 / 6);
  expect_moments("_npi_logistic", sized({{"loc", "1"}, {"scale", "1"}}), 1, kPi2 / 3);
  expect_moments("_npi_exponential", sized({{"scale", "2"}}), 2, 4);
  expect_moments("_npi_rayleigh", sized({{"scale", "1"}}), 1.2533141373155, 0.42920367320510);
  expect_moments("_npi_weibull", sized({{"a", "2"}}), 0.886226925452758, 0.2146018366);
  expect_moments("_npi_pareto", sized({{"a", "6"}}), 0.2, 0.06);
  expect_moments("_npi_bernoulli",
                 sized({{"prob", "0.3"}, {"logit", "None"}, {"is_logit", "False"}}), 0.3, 0.21);
  // Parameters that broadcast.
  const Values rows = drawn("_npi_uniform", {{"low", "None"}, {"high", "None"}},
                            {{{0, 5}, Shape{2, 1}}, {{1, 1, 1}, Shape{3}}});
  ASSERT_EQ(rows.size(), 6u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(rows[i] >= 0 && rows[i] < 1) << rows[i];
    EXPECT_TRUE(rows[3 + i] > 1 && rows[3 + i] <= 5) << rows[3 + i];
  }
}

TEST(GpuRandom, CategoriesAndTheirGradient) {
  const Values p{0.5f, 0, 0.25f, 0.25f, 0, 0, 1, 0};
  RandomStreams::seed_all(kSeed);
  NDArray data = array_of(p, Shape{2, 4}, kGpu);
  NDArray* const inputs[] = {&data};
  const auto outputs =
      call_op("_sample_multinomial", inputs, {{"shape", "(4000,)"}, {"get_prob", "True"}});
  const Values drawn = values_as_float(outputs[0]), logs = values_of(outputs[1]);
  int counts[4] = {};
  for (std::size_t i = 0; i < 4000; ++i) {
    const auto k = static_cast<std::size_t>(drawn[i]);
    ASSERT_LT(k, 4u);
    ++counts[k];
    EXPECT_FLOAT_EQ(logs[i], std::log(p[k]));
    EXPECT_EQ(drawn[4000 + i], 2);
  }
  EXPECT_NEAR(counts[0], 2000, 160);
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[2], 1000, 140);
  for (const char* dtype : {"float32", "float64"}) {
    expect_same_outputs("_backward_sample_multinomial",
                        {{random_values(10, -1, 1), Shape{2, 5}, dtype},
                         {random_values(8, 1, 2), Shape{2, 4}, dtype},
                         {{0, 1, 1, 3, 2, 3, 3, 3, 0, 1}, Shape{2, 5}, "int32"}},
                        {{"shape", "(5,)"}, {"get_prob", "True"}}, 1e-6);
  }
}

TEST(GpuRandom, WhatIsNoCategoryHasNoGradient) {
  NDArray head = array_of({1, 1, 1}, {}, kGpu), p = array_of({0.5f, 0.5f}, {}, kGpu);
  NDArray drawn = array_of({1, 2, -1}, {}, kGpu);
  EXPECT_EQ(values_of(call("_backward_sample_multinomial", {&head, &p, &drawn},
                           {{"shape", "(3,)"}, {"get_prob", "True"}})),
            (Values{0, 2}));
}

TEST(GpuRandom, DensitiesAreThoseOfTheCpu) {
  struct Case {
    std::string name;
    int params;
    bool counts, shares;
  };
  for (const Case& c : {Case{"uniform", 2, false, false}, Case{"normal", 2, false, false},
                        Case{"gamma", 2, false, false}, Case{"exponential", 1, false, false},
                        Case{"poisson", 1, true, false}, Case{"negative_binomial", 2, true, true},
                        Case{"generalized_negative_binomial", 2, true, false}}) {
    for (const char* dtype : {"float32", "float64", "float16"}) {
      const double tolerance = dtype == std::string_view("float16") ? 2e-3 : 1e-5;
      Values samples = random_values(3 * 7, 0.25f, 5);
      if (c.counts)
        for (float& x : samples) x = std::floor(x);
      std::vector<Input> inputs{{samples, Shape{3, 7}, dtype},
                                {random_values(3, 1, 3), Shape{3}, dtype}};
      if (c.params == 2)
        inputs.push_back(
            {c.shares ? Values{0.25f, 0.5f, 0.75f} : Values{4, 5, 6}, Shape{3}, dtype});
      for (const char* is_log : {"False", "True"}) {
        const Attrs attrs{{"is_log", is_log}};
        expect_same_outputs("_random_pdf_" + c.name, inputs, attrs, tolerance);
        std::vector<Input> backward{{random_values(3 * 7, -1, 1), Shape{3, 7}, dtype}};
        backward.insert(backward.end(), inputs.begin(), inputs.end());
        expect_same_outputs("_backward_pdf_" + c.name, backward, attrs, tolerance);
      }
    }
  }
  const Input vectors{random_values(2 * 3 * 4, 0.125f, 1), Shape{2, 3, 4}};
  const Input alpha{random_values(2 * 4, 0.5f, 3), Shape{2, 4}};
  for (const char* is_log : {"False", "True"}) {
    expect_same_outputs("_random_pdf_dirichlet", {vectors, alpha}, {{"is_log", is_log}}, 1e-5);
    expect_same_outputs("_backward_pdf_dirichlet",
                        {{random_values(6, -1, 1), Shape{2, 3}}, vectors, alpha},
                        {{"is_log", is_log}}, 1e-5);
  }
}

// `op` with an output on the GPU, without inputs.
std::vector<Values> made(const char* op, Attrs attrs) {
  attrs.emplace_back("ctx", "gpu(0)");
  const bool has_ctx = std::string_view(op) == "_npi_choice";
  if (!has_ctx) attrs.pop_back();
  const std::vector<std::pair<std::string_view, std::string_view>> all(attrs.begin(), attrs.end());
  const ParsedAttrsRef parsed = parse_attrs(Registry::get().at(op), all);
  const int count = Registry::get().at(op).num_outputs(parsed->params().get());
  std::vector<NDArray> outputs(static_cast<std::size_t>(count));
  std::vector<NDArray*> pointers;
  for (NDArray& output : outputs) pointers.push_back(&output);
  imperative_invoke(parsed, {}, pointers, kGpu);
  std::vector<Values> result;
  for (const NDArray& output : outputs) {
    EXPECT_EQ(output.device(), kGpu) << op;
    result.push_back(values_as_float(output));
  }
  return result;
}

TEST(GpuRandom, ChoicesWithAndWithoutRepetition) {
  RandomStreams::seed_all(kSeed);
  const Values many = made("_npi_choice", {{"a", "5"}, {"size", "(20000,)"}})[0];
  int counts[5] = {};
  for (const float value : many) ++counts[static_cast<std::size_t>(value)];
  for (const int count : counts) EXPECT_NEAR(count, 4000, 5 * std::sqrt(4000 * 0.8));
  for (const char* size : {"(7,)", "(3,)"}) {
    Values few = made("_npi_choice", {{"a", "7"}, {"size", size}, {"replace", "False"}})[0];
    std::sort(few.begin(), few.end());
    EXPECT_EQ(std::unique(few.begin(), few.end()), few.end());
    EXPECT_TRUE(few.front() >= 0 && few.back() < 7);
  }
  // By weights: 3 of 4 with one that never comes, and how often the likeliest is first.
  const Attrs attrs{{"a", "4"}, {"size", "(3,)"}, {"replace", "False"}, {"weighted", "True"}};
  int first = 0;
  for (int i = 0; i < 400; ++i) {
    NDArray weights = array_of({0.5f, 0.25f, 0.25f, 0}, {}, kGpu);
    const Values picked = values_as_float(call("_npi_choice", {&weights}, attrs));
    EXPECT_EQ((std::set<float>(picked.begin(), picked.end())), (std::set<float>{0, 1, 2}));
    first += picked[0] == 0;
  }
  EXPECT_NEAR(first, 200, 50);
  for (const char* dtype : {"float32", "float64"}) {
    const Input weights{{0.5f, 0, 0.25f, 0.25f}, Shape{4}, dtype};
    const Attrs drawn_attrs{{"a", "4"}, {"size", "(4000,)"}, {"weighted", "True"}};
    const Values drawn_by_weight = drawn("_npi_choice", drawn_attrs, {weights});
    int of[4] = {};
    for (const float value : drawn_by_weight) ++of[static_cast<std::size_t>(value)];
    EXPECT_NEAR(of[0], 2000, 160);
    EXPECT_EQ(of[1], 0);
    EXPECT_NEAR(of[2], 1000, 140);
    EXPECT_EQ(drawn_by_weight, drawn("_npi_choice", drawn_attrs, {weights}));
  }
}

TEST(GpuRandom, CountsOfCategories) {
  const Input pvals{{0.5f, 0, 0.25f, 0.25f}, Shape{4}};
  const Attrs attrs{{"n", "2000"}, {"size", "(2, 3)"}};
  const Values counts = drawn("_npi_multinomial", attrs, {pvals});
  ASSERT_EQ(counts.size(), 24u);
  for (std::size_t row = 0; row < 6; ++row) {
    const float* of = counts.data() + row * 4;
    EXPECT_EQ(of[0] + of[1] + of[2] + of[3], 2000);
    EXPECT_NEAR(of[0], 1000, 5 * std::sqrt(500.0));
    EXPECT_EQ(of[1], 0);
    EXPECT_NEAR(of[2], 500, 5 * std::sqrt(375.0));
  }
  EXPECT_NE(Values(counts.begin(), counts.begin() + 4),
            Values(counts.begin() + 4, counts.begin() + 8));
  EXPECT_EQ(counts, drawn("_npi_multinomial", attrs, {pvals}));
  EXPECT_EQ(drawn("_npi_multinomial", {{"n", "0"}}, {pvals}), Values(4, 0));
  NDArray wrong = array_of({0.5f, -1, 1}, {}, kGpu);
  EXPECT_TRUE(contains(error_of([&] {
                         values_as_float(call("_npi_multinomial", {&wrong}, {{"n", "1"}}));
                       }),
                       "given -1 in pvals"));
}

TEST(GpuRandom, UniqueClassesOfLogUniformFrequencies) {
  RandomStreams::seed_all(kSeed);
  // All classes there are, in some order.
  const std::vector<Values> all =
      made("_sample_unique_zipfian", {{"range_max", "40"}, {"shape", "(3, 40)"}});
  ASSERT_EQ(all[0].size(), 120u);
  for (std::size_t row = 0; row < 3; ++row) {
    Values classes(all[0].begin() + static_cast<std::ptrdiff_t>(row * 40),
                   all[0].begin() + static_cast<std::ptrdiff_t>(row * 40 + 40));
    std::sort(classes.begin(), classes.end());
    for (std::size_t c = 0; c < 40; ++c) EXPECT_EQ(classes[c], static_cast<float>(c));
    EXPECT_GE(all[1][row], 40);
  }
  // A row of one class is the distribution itself: e^u is below 1.5 for the first one.
  const std::vector<Values> ones =
      made("_sample_unique_zipfian", {{"range_max", "1000"}, {"shape", "(8000, 1)"}});
  const double share = std::log(1.5) / std::log(1000.0);
  const auto found = std::count(ones[0].begin(), ones[0].end(), 0.0f);
  EXPECT_NEAR(static_cast<double>(found), 8000 * share, 5 * std::sqrt(8000 * share));
  EXPECT_EQ(ones[1], Values(8000, 1));
  EXPECT_EQ(made("_sample_unique_zipfian", {{"range_max", "5"}, {"shape", "(0, 3)"}})[0], Values());
}

}  // namespace
}  // namespace mxnet
