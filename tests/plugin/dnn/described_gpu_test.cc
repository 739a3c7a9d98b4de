// SPDX-License-Identifier: Apache-2.0
// What cuDNN itself offers for the operations that the plug-in describes, on GPUs that are not
// there, and the plans that it makes of them. Nothing runs: results and times need a GPU.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/config.h"
#include "base/error.h"
#include "plugin/cuda/dnn/attention.h"
#include "plugin/cuda/dnn/convolution.h"
#include "plugin/cuda/dnn/plan_target.h"
#include "plugin/dnn/described_gpus.h"
#include "plugin/dnn/network_layers.h"

namespace mxnet::cuda {
namespace {

using enum NumericalNote;

constexpr ConvPass kPasses[] = {ConvPass::kForward, ConvPass::kDataGradient,
                                ConvPass::kWeightGradient};

// Engines say of themselves that they are compiled when first used: it takes seconds a plan.
bool is_compiled_when_used(const OfferedEngine& offer) {
  const auto engines =
      offer.descriptor.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  std::vector<cudnnBackendBehaviorNote_t> notes(CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  int64_t count = 0;
  const Cudnn& cudnn = Cudnn::get();
  cudnn.check(cudnn.get_attribute(engines.at(0).raw(), CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                  CUDNN_TYPE_BEHAVIOR_NOTE, static_cast<int64_t>(notes.size()),
                                  &count, notes.data()),
              "cudnnBackendGetAttribute");
  return std::count(notes.begin(), notes.begin() + count, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) >
         0;
}

class DescribedGpus : public OnDescribedGpus {
 protected:
  static PlanTarget target(const DescribedGpu& gpu = described_gpus().at(1)) {
    return PlanTarget::described(gpu.json());
  }
  static EngineOffers offers(const PlanTarget& target, const Convolution& convolution) {
    return offered_engines(target, convolution_operations(convolution), config().cuda);
  }
  static EnginePolicy policy_of(ConvPass pass) {
    return engine_policy(config().cuda, pass, Autotune::kHeuristics, 4096);
  }
  // As a program does it, of the engines that the policy leaves: the first one that has a plan.
  static void expect_plan(const PlanTarget& target, EngineOffers offered,
                          const EnginePolicy& policy) {
    bool found = false;
    make_plans(
        offered.engines.size(), policy,
        [&](std::size_t i) {
          OfferedEngine& offer = offered.engines[i];
          if (exclusion(offer.config, policy)) return false;
          try {
            offer.config.workspace =
                EnginePlan(target, std::move(offer.descriptor)).workspace_bytes();
          } catch (const Error&) {
            return false;
          }
          return found = !exclusion(offer.config, policy);
        },
        [] { return 0.0; });
    EXPECT_TRUE(found) << "of " << offered.engines.size() << " engines";
  }
  static void expect_plans(const DescribedGpu& gpu, const Network& network) {
    const PlanTarget target = DescribedGpus::target(gpu);
    for (const Layer& layer : network.layers) {
      for (const ConvPass pass : kPasses) {
        for (const DType dtype : {DType::kFloat32, DType::kFloat16}) {
          const bool channels_last = dtype == DType::kFloat16;
          const Convolution convolution = describe(layer, 32, pass, dtype, channels_last);
          SCOPED_TRACE(convolution.to_string());
          expect_plan(target, offers(target, convolution), policy_of(pass));
        }
      }
    }
  }
};

TEST_F(DescribedGpus, ATextThatIsNoDeviceIsAnError) {
  EXPECT_THROW(PlanTarget::described("{}"), Error);
  EXPECT_THROW(PlanTarget::described("H100"), Error);
}

TEST_F(DescribedGpus, EachConvolutionOfTheNetworksHasAPlan) {
  for (const Network& network : networks_with_layers()) {
    SCOPED_TRACE(network.name);
    expect_plans(described_gpus().at(1), network);
  }
}

TEST_F(DescribedGpus, OlderAndNewerOnesHavePlansForResNet) {
  for (const std::size_t i : {0, 2}) {
    SCOPED_TRACE(described_gpus().at(i).name);
    expect_plans(described_gpus().at(i), networks_with_layers().at(0));
  }
}

struct Odd {
  const char* name;
  std::vector<int64_t> data, weight, pad, stride, dilate;
  int64_t groups = 1;

  Convolution describe(ConvPass pass, DType dtype, bool channels_last) const {
    Convolution convolution{.pass = pass,
                            .dtype = dtype,
                            .channels_last = channels_last,
                            .data = data,
                            .weight = weight,
                            .output = {data[0], weight[0]},
                            .pad = pad,
                            .stride = stride,
                            .dilate = dilate,
                            .groups = groups,
                            .activation = {}};
    for (std::size_t d = 0; d < pad.size(); ++d) {
      const int64_t reach = dilate[d] * (weight[d + 2] - 1) + 1;
      convolution.output.push_back((data[d + 2] + 2 * pad[d] - reach) / stride[d] + 1);
    }
    return convolution;
  }
};

TEST_F(DescribedGpus, EachOddConvolutionHasAPlan) {
  const Odd odds[] = {
      {"channels that fill no pack", {5, 13, 17, 19}, {7, 13, 5, 3}, {2, 0}, {2, 3}, {1, 1}},
      {"dilated", {4, 7, 33, 33}, {9, 7, 3, 3}, {4, 4}, {1, 1}, {4, 4}},
      {"dilated and strided", {4, 16, 33, 33}, {24, 16, 3, 3}, {2, 2}, {2, 2}, {2, 2}},
      {"groups", {4, 12, 15, 15}, {18, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 3},
      {"a channel a group", {4, 11, 15, 15}, {11, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 11},
      {"three of each channel", {4, 8, 15, 15}, {24, 1, 5, 5}, {2, 2}, {2, 2}, {1, 1}, 8},
      {"a line", {3, 5, 1, 31}, {7, 5, 1, 4}, {0, 1}, {1, 3}, {1, 1}},
      {"a line, dilated", {8, 64, 1, 200}, {64, 64, 1, 3}, {0, 8}, {1, 1}, {1, 8}},
      {"a volume", {2, 3, 9, 10, 11}, {5, 3, 3, 2, 1}, {1, 0, 0}, {2, 1, 3}, {1, 1, 1}},
      {"a volume, dilated", {2, 8, 12, 12, 12}, {4, 8, 3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {2, 2, 2}},
      {"groups of volumes", {2, 8, 6, 6, 6}, {4, 2, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 4},
      {"a large window", {1, 4, 64, 64}, {4, 4, 31, 31}, {15, 15}, {1, 1}, {1, 1}},
      {"one pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0}, {1, 1}, {1, 1}},
      {"patches", {8, 3, 224, 224}, {768, 3, 16, 16}, {0, 0}, {16, 16}, {1, 1}},
      {"a border wider than the window", {2, 8, 9, 9}, {8, 8, 3, 3}, {5, 5}, {1, 1}, {1, 1}},
      {"steps over the window", {2, 8, 19, 19}, {8, 8, 2, 2}, {0, 0}, {5, 5}, {1, 1}},
      {"many images", {70000, 4, 3, 3}, {4, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {"more than 2^31 elements", {600, 64, 256, 256}, {64, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}}};
  const PlanTarget target = DescribedGpus::target();
  for (const Odd& odd : odds) {
    SCOPED_TRACE(odd.name);
    for (const ConvPass pass : kPasses) {
      for (const DType dtype :
           {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
        for (const bool channels_last : {false, true}) {
          const Convolution convolution = odd.describe(pass, dtype, channels_last);
          SCOPED_TRACE(convolution.to_string());
          expect_plan(target, offers(target, convolution), policy_of(pass));
        }
      }
    }
  }
}

// Of the graph of a residual network's last convolutions cuDNN has engines that are compiled
// already, in either layout: if the sum comes before the bias. Else it has none with channels
// second, and with channels last those that are compiled for seconds.
TEST_F(DescribedGpus, ABiasASumAndAReluAreAGraphWithEnginesThatAreCompiledAlready) {
  for (const DescribedGpu& gpu : described_gpus()) {
    const PlanTarget target = DescribedGpus::target(gpu);
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      for (const bool channels_last : {false, true}) {
        for (const bool sum : {false, true}) {
          Convolution convolution = describe({.size = 56, .in = 64, .out = 256, .kernel = 1}, 32,
                                             ConvPass::kForward, dtype, channels_last);
          convolution.bias = true;
          convolution.sum = sum;
          convolution.activation = {PostOp::Kind::kRelu};
          SCOPED_TRACE(gpu.name + (" " + convolution.to_string()));
          EngineOffers offered = offers(target, convolution);
          ASSERT_FALSE(offered.engines.empty());
          EXPECT_FALSE(is_compiled_when_used(offered.engines[0]));
          expect_plan(target, std::move(offered), policy_of(convolution.pass));
        }
      }
    }
  }
}

// What cuDNN has no engine for is left to a convolution and a kernel of ours, without an error.
TEST_F(DescribedGpus, GraphsWithoutAnEngineHaveNoOffers) {
  Convolution convolution =
      describe({56, 64, 64, 3, 1, 1}, 32, ConvPass::kForward, DType::kFloat32, false);
  convolution.activation = {PostOp::Kind::kTanh};
  EXPECT_TRUE(offers(target(), convolution).engines.empty());
  convolution.channels_last = true;  // these have some that are compiled when used
  EngineOffers last = offers(target(), convolution);
  ASSERT_FALSE(last.engines.empty());
  EXPECT_TRUE(is_compiled_when_used(last.engines[0]));
}

TEST_F(DescribedGpus, AttentionHasEnginesForAllSizesAndLayouts) {
  for (const DescribedGpu& gpu : described_gpus()) {
    const PlanTarget target = DescribedGpus::target(gpu);
    for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
      for (const int64_t size : {8, 40, 64, 128}) {
        for (const auto& [queries, keys] : {std::pair{128, 128}, {7, 7}, {1, 77}}) {
          const bool self = queries == keys;
          const Attention attention{.dtype = dtype,
                                    .batch = 8,
                                    .heads = 12,
                                    .size = size,
                                    .queries = queries,
                                    .keys = keys,
                                    .query_parts = self ? 3 : 1,
                                    .memory_parts = self ? 3 : 2};
          SCOPED_TRACE(gpu.name + (" " + attention.to_string()));
          EXPECT_FALSE(offered_engines(target, attention_operations(attention), config().cuda)
                           .engines.empty());
        }
      }
    }
  }
}

TEST_F(DescribedGpus, AnEngineOfAttentionIsCompiledIntoAPlan) {
  const Attention attention{.batch = 8,
                            .heads = 12,
                            .size = 64,
                            .queries = 128,
                            .keys = 128,
                            .query_parts = 3,
                            .memory_parts = 3};
  expect_plan(target(), offered_engines(target(), attention_operations(attention), config().cuda),
              policy_of(ConvPass::kForward));
}

// The variables, on lists that are cuDNN's own.
class EnginesAsTheyAre : public DescribedGpus {
 protected:
  static constexpr Layer kLayer = {56, 64, 64, 3, 1, 1};

  static std::vector<EngineConfig> engines(ConvPass pass, DType dtype) {
    std::vector<EngineConfig> result;
    for (const OfferedEngine& offer :
         offers(target(), describe(kLayer, 32, pass, dtype, false)).engines)
      result.push_back(offer.config);
    return result;
  }
  static bool any_has(const std::vector<EngineConfig>& engines, NumericalNote note) {
    return std::ranges::any_of(engines, [&](const EngineConfig& e) { return e.has(note); });
  }
  // The choice keeps to the policy, and the report says of each engine why it is out.
  static void expect_choice(const std::vector<EngineConfig>& engines, EnginePolicy policy,
                            NumericalNote forbidden, const std::string& variable) {
    policy.verbose = 2;
    const EngineChoice choice = choose_engine("title", engines, policy, nullptr);
    ASSERT_TRUE(choice.chosen) << choice.report;
    EXPECT_FALSE(engines[*choice.chosen].has(forbidden)) << choice.report;
    std::size_t out = 0;
    for (auto at = choice.report.find(variable); at != std::string::npos;
         at = choice.report.find(variable, at + 1))
      ++out;
    EXPECT_GE(out, 1u);
    EXPECT_EQ(out, static_cast<std::size_t>(std::ranges::count_if(
                       engines, [&](const EngineConfig& e) { return e.has(forbidden); })));
  }
};

TEST_F(EnginesAsTheyAre, WithoutTensorCoresFloatAndHalfTypesHaveEnginesLeft) {
  for (const ConvPass pass : kPasses) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)));
      EnginePolicy policy = policy_of(pass);
      policy.tensor_core = false;
      expect_choice(engines(pass, dtype), policy, TENSOR_CORE, "MXNET_CUDA_ALLOW_TENSOR_CORE=0");
    }
  }
}

TEST_F(EnginesAsTheyAre, ResultsThatRepeatHaveEnginesInEachPass) {
  EnginePolicy policy = policy_of(ConvPass::kWeightGradient);
  policy.deterministic = true;
  expect_choice(engines(ConvPass::kWeightGradient, DType::kFloat32), policy, NONDETERMINISTIC,
                "MXNET_ENFORCE_DETERMINISM=1");
  for (const ConvPass pass : kPasses) {
    const auto offered = engines(pass, DType::kFloat32);
    EXPECT_TRUE(choose_engine("title", offered, policy, nullptr).chosen.has_value());
  }
}

// So TF32 is what MXNET_CUDA_ALLOW_TENSOR_CORE permits, and the other variable forbids nothing.
TEST_F(EnginesAsTheyAre, EnginesForTf32SayThatTheyUseTensorCoresAndNotThatTheyConvert) {
  for (const ConvPass pass : kPasses) {
    const auto offered = engines(pass, DType::kFloat32);
    EXPECT_TRUE(any_has(offered, TENSOR_CORE));
    EXPECT_FALSE(any_has(offered, DOWN_CONVERT_INPUTS));
  }
}

}  // namespace
}  // namespace mxnet::cuda
