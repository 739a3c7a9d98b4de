// SPDX-License-Identifier: Apache-2.0
// The choice of cuDNN's engines: what each variable forbids, how the rest is ranked, what is told.
#include "plugin/cuda/cudnn_engines.h"
#include "base/config.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace mxnet::cuda {
namespace {

using enum NumericalNote;

EngineConfig engine(int64_t number, std::vector<NumericalNote> notes = {},
                    std::size_t workspace = 0) {
  return {.engine = number, .knobs = {{2, 7}}, .notes = std::move(notes), .workspace = workspace};
}

// Each engine runs in as many milliseconds as its number says.
std::optional<double> by_number(const EngineConfig& config) {
  return static_cast<double>(config.engine);
}
std::optional<double> never(const EngineConfig&) {
  ADD_FAILURE() << "nothing is timed where heuristics decide";
  return std::nullopt;
}

std::optional<int64_t> chosen(const std::vector<EngineConfig>& candidates,
                              const EnginePolicy& policy, const EngineTimer& timer = by_number) {
  const EngineChoice choice = choose_engine("conv", candidates, policy, timer);
  if (!choice.chosen) return std::nullopt;
  return candidates[*choice.chosen].engine;
}

TEST(CudnnPolicy, DefaultsOfTheVariables) {
  const EnginePolicy policy = engine_policy(CudaConfig{}, ConvPass::kForward, std::nullopt, 1024);
  EXPECT_TRUE(policy.tensor_core && policy.fft && policy.winograd);
  EXPECT_TRUE(policy.reduced_precision_reduction);
  EXPECT_FALSE(policy.down_conversion || policy.deterministic);
  EXPECT_TRUE(policy.disabled.empty());
  EXPECT_EQ(policy.autotune, Autotune::kFastestWithinLimit);
  EXPECT_EQ(policy.workspace_limit, std::size_t{1} << 30);
}

TEST(CudnnPolicy, WiderByTensorCoresAlone) {
  EnginePolicy policy;
  EXPECT_FALSE(with_tensor_cores(policy)) << "they are permitted";
  policy.tensor_core = policy.fft = false;
  const EngineConfig cores = engine(1, {TENSOR_CORE}), both = engine(2, {TENSOR_CORE, FFT});
  EXPECT_EQ(chosen({both, cores}, policy), std::nullopt);
  EXPECT_EQ(chosen({both, cores}, *with_tensor_cores(policy)), 1);
}

// How many of 30 offers, of which the first `unfit` fail or are forbidden, become a plan where each
// takes so many seconds.
int plans_of(Autotune autotune, std::size_t unfit, double each = 0) {
  EnginePolicy policy;
  policy.autotune = autotune;
  int made = 0;
  double passed = 0;
  const auto make = [&](std::size_t i) {
    made += i >= unfit;
    passed += each;
    return i >= unfit;
  };
  make_plans(30, policy, make, [&] { return passed; });
  return made;
}

TEST(CudnnPlans, NoMoreAreMadeThanThereIsUseFor) {
  EXPECT_EQ(plans_of(Autotune::kFastestWithinLimit, 0), kMostTimed);
  EXPECT_EQ(plans_of(Autotune::kFastest, 12), kMostTimed) << "those that fail do not count";
  EXPECT_EQ(plans_of(Autotune::kFastest, 25), 5);
  EXPECT_EQ(plans_of(Autotune::kHeuristics, 3), 1);
}

TEST(CudnnPlans, ThoseThatTakeLongAreFew) {
  EXPECT_EQ(plans_of(Autotune::kFastest, 0, kMostMaking / 4), 4);
  EXPECT_EQ(plans_of(Autotune::kFastest, 0, 2 * kMostMaking), kLeastTimed);
  EXPECT_EQ(plans_of(Autotune::kFastest, 3, kMostMaking), kLeastTimed)
      << "time that failures take leaves none without a choice";
}

TEST(CudnnPolicy, EachPassHasItsOwnListOfDisabledEngines) {
  CudaConfig config;
  config.cudnn_disabled_conv_fwd_engines = "1,5, 12";
  config.cudnn_disabled_conv_dgrad_engines = "7";
  const auto disabled = [&](ConvPass pass) {
    return engine_policy(config, pass, std::nullopt, 1).disabled;
  };
  EXPECT_EQ(disabled(ConvPass::kForward), (std::vector<int64_t>{1, 5, 12}));
  EXPECT_EQ(disabled(ConvPass::kDataGradient), std::vector<int64_t>{7});
  EXPECT_TRUE(disabled(ConvPass::kWeightGradient).empty());
}

TEST(CudnnPolicy, TheConvolutionsOwnTuningComesBeforeTheVariable) {
  CudaConfig config;
  config.cudnn_autotune_default = 0;
  EXPECT_EQ(engine_policy(config, ConvPass::kForward, std::nullopt, 1).autotune,
            Autotune::kHeuristics);
  EXPECT_EQ(engine_policy(config, ConvPass::kForward, Autotune::kFastest, 1).autotune,
            Autotune::kFastest);
}

TEST(CudnnExclusion, EachVariableForbidsItsNotesAndNoOthers) {
  const struct {
    NumericalNote note;
    bool EnginePolicy::*field;
    bool forbids;  // the field's value
    const char* variable;
  } rows[] = {
      {TENSOR_CORE, &EnginePolicy::tensor_core, false, "ALLOW_TENSOR_CORE"},
      {DOWN_CONVERT_INPUTS, &EnginePolicy::down_conversion, false, "ALLOW_CONVERSION"},
      {REDUCED_PRECISION_REDUCTION, &EnginePolicy::reduced_precision_reduction, false,
       "REDUCED_PRECISION"},
      {FFT, &EnginePolicy::fft, false, "ALLOW_FFT"},
      {WINOGRAD, &EnginePolicy::winograd, false, "ALLOW_WINOGRAD"},
      {WINOGRAD_TILE_13x13, &EnginePolicy::winograd, false, "ALLOW_WINOGRAD"},
      {NONDETERMINISTIC, &EnginePolicy::deterministic, true, "ENFORCE_DETERMINISM"},
  };
  for (const auto& row : rows) {
    EnginePolicy policy;
    policy.down_conversion = true;
    policy.workspace_limit = 1;
    EXPECT_FALSE(exclusion(engine(1, {row.note}), policy)) << row.variable;
    policy.*row.field = row.forbids;
    const auto reason = exclusion(engine(1, {row.note}), policy);
    ASSERT_TRUE(reason) << row.variable;
    EXPECT_NE(reason->find(row.variable), std::string::npos) << *reason;
    EXPECT_FALSE(exclusion(engine(1, {STRICT_NAN_PROP}), policy));
  }
}

TEST(CudnnExclusion, DisabledEnginesGoByNumber) {
  EnginePolicy policy;
  policy.disabled = {3, 4};
  EXPECT_TRUE(exclusion(engine(3), policy));
  EXPECT_FALSE(exclusion(engine(34), policy));
}

TEST(CudnnChoice, HeuristicsTakeTheFirstThatIsAllowedWithoutTiming) {
  EnginePolicy policy;
  policy.autotune = Autotune::kHeuristics;
  policy.fft = false;
  EXPECT_EQ(chosen({engine(9, {FFT}), engine(8), engine(1)}, policy, never), 8);
}

TEST(CudnnChoice, FastestWithinTheLimit) {
  EnginePolicy policy;
  policy.workspace_limit = 100;
  const std::vector<EngineConfig> candidates{engine(5), engine(2, {}, 101), engine(3, {}, 100)};
  EXPECT_EQ(chosen(candidates, policy), 3);
  policy.autotune = Autotune::kFastest;
  EXPECT_EQ(chosen(candidates, policy), 2);
}

TEST(CudnnChoice, TiesGoToTheHeuristicsOrder) {
  EnginePolicy policy;
  const auto same = [](const EngineConfig&) -> std::optional<double> { return 1.0; };
  EXPECT_EQ(chosen({engine(6), engine(4)}, policy, same), 6);
}

TEST(CudnnChoice, WhatDoesNotRunIsPassedOver) {
  EnginePolicy policy;
  const auto some = [](const EngineConfig& config) -> std::optional<double> {
    if (config.engine == 1) return std::nullopt;
    return static_cast<double>(config.engine);
  };
  EXPECT_EQ(chosen({engine(1), engine(2)}, policy, some), 2);
  EXPECT_EQ(chosen({engine(1)}, policy, some), std::nullopt);
}

TEST(CudnnChoice, WhatFindsNoRoomMayRunAnotherTime) {
  EnginePolicy policy;
  policy.verbose = 2;
  const auto full = [](const EngineConfig& config) -> std::optional<double> {
    if (config.engine == 1) throw Error(ErrorCode::kOutOfMemory, "gpu(0)", "full");
    return 1.0;
  };
  const EngineChoice choice = choose_engine("test", {engine(1), engine(2)}, policy, full);
  EXPECT_EQ(choice.chosen, 1u);
  EXPECT_NE(choice.report.find("excluded: finds no room"), std::string::npos) << choice.report;
  EXPECT_NE(choice.no_room, nullptr);
  const EngineChoice none = choose_engine("test", {engine(1)}, policy, full);
  EXPECT_FALSE(none.chosen);
  EXPECT_THROW(std::rethrow_exception(none.no_room), Error);
  EXPECT_EQ(choose_engine("test", {engine(2)}, policy, full).no_room, nullptr);
}

TEST(CudnnReport, LevelsSayNothingTheChoiceOrEverything) {
  EnginePolicy policy;
  policy.winograd = false;
  const std::vector<EngineConfig> candidates{engine(5, {TENSOR_CORE}), engine(1, {WINOGRAD}),
                                             engine(4)};
  const auto report = [&](int level) {
    policy.verbose = level;
    return choose_engine("conv fwd", candidates, policy, by_number).report;
  };
  EXPECT_EQ(report(0), "");
  EXPECT_EQ(report(1), "conv fwd\n* 2 eng:4 k2=7 [] workspace:0 time:4.0000ms\n");
  EXPECT_EQ(report(2),
            "conv fwd\n"
            "  0 eng:5 k2=7 [TENSOR_CORE] workspace:0 time:5.0000ms\n"
            "  1 eng:1 k2=7 [WINOGRAD] workspace:0 excluded: MXNET_CUDNN_ALLOW_WINOGRAD=0\n"
            "* 2 eng:4 k2=7 [] workspace:0 time:4.0000ms\n");
}

TEST(CudnnKey, ChangesWithEverythingThatTheChoiceDependsOn) {
  const EnginePolicy policy;
  const std::string key = choice_key("H200", 90000, "n32c64", policy);
  EXPECT_EQ(choice_key("H200", 90000, "n32c64", policy), key);
  EXPECT_NE(choice_key("A100", 90000, "n32c64", policy), key);
  EXPECT_NE(choice_key("H200", 90100, "n32c64", policy), key);
  EXPECT_NE(choice_key("H200", 90000, "n16c64", policy), key);
  EnginePolicy other = policy;
  other.disabled = {1};
  EXPECT_NE(choice_key("H200", 90000, "n32c64", other), key);
  other = policy;
  other.fft = false;
  EXPECT_NE(choice_key("H200", 90000, "n32c64", other), key);
}

}  // namespace
}  // namespace mxnet::cuda
