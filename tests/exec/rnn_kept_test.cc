// SPDX-License-Identifier: Apache-2.0
// Packed weights of recurrent layers that outlive calls. A write to the memory of the weights that
// no version counts shows whether they are kept: what was packed before does not know of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine.h"
#include "exec/arrays.h"
#include "exec/executor.h"
#include "graph/graphs.h"
#include "ndarray/copy_into.h"
#include "ndarray/dlpack.h"
#include "setting.h"

namespace mxnet {
namespace {

constexpr int64_t kSteps = 2, kBatch = 2, kInputs = 3, kUnits = 4;
constexpr int64_t kWeights = kUnits * (kInputs + kUnits), kBiases = 2 * kUnits;
const Attrs kAttrs{{"state_size", "4"}, {"num_layers", "1"}, {"mode", "rnn_relu"}};

// Weights of one number each, which all outputs grow with.
Values params_of(float weight) {
  Values params(kWeights + kBiases, 0.5f);
  std::fill_n(params.begin(), kWeights, weight);
  return params;
}

// Called eagerly, as a plan, and as one that is given the vector's parts.
enum class As { kCall, kPlan, kParts };

// RNN of a vector that is made of a matrix for each weight and of the biases.
ir::Graph graph_of_parts() {
  const auto flat = [](const char* name) {
    return apply("Reshape", {variable(name)}, {{"shape", "(-1,)"}});
  };
  const Value vector =
      apply("_rnn_param_concat", {flat("input_weight"), flat("state_weight"), flat("biases")},
            {{"num_args", "3"}, {"dim", "0"}});
  return graph_of({apply("RNN", {variable("x"), vector, variable("state")}, kAttrs)});
}
std::vector<NDArray> parts_of(const NDArray& params) {
  constexpr int64_t kFirst = kUnits * kInputs;
  return {params.slice(0, kFirst).view_as({kUnits, kInputs}, DType::kFloat32),
          params.slice(kFirst, kWeights).view_as({kUnits, kUnits}, DType::kFloat32),
          params.slice(kWeights, kWeights + kBiases)};
}

std::unique_ptr<Executor> bound(const ir::Graph& graph, std::vector<NDArray> args) {
  ExecutorArrays arrays;
  arrays.args = std::move(args);
  arrays.requests.assign(arrays.args.size(), Request::kNull);
  arrays.grads.resize(arrays.args.size());
  return std::make_unique<Executor>(graph, Device::cpu(), std::move(arrays));
}

class RnnKept : public testing::TestWithParam<As> {
 protected:
  Values run() {
    if (GetParam() == As::kCall) return values_of(call("RNN", {&x_, &params_, &state_}, kAttrs));
    if (executor_ == nullptr) bind();
    executor_->forward(false);
    return values_of(executor_->outputs()[0]);
  }
  // What the numbers give that the weights have now, by an array of their own.
  Values expected() {
    NDArray params = array_of(values_of(params_));
    return values_of(call("RNN", {&x_, &params, &state_}, kAttrs));
  }
  // Packed weights are kept from the second call on.
  void keep() {
    for (int i = 0; i < 2; ++i) run();
  }
  // Whether the second of two calls does without looking at the weights. Where it looks, what it
  // sees may be kept: the end of a test.
  bool runs_on_kept_weights() {
    const Values before = run();
    auto* const weights = params_.data_as<float>();
    std::for_each_n(weights, kWeights, [](float& weight) { weight += 1; });
    const bool kept = run() == before;
    std::for_each_n(weights, kWeights, [](float& weight) { weight -= 1; });
    return kept;
  }

  NDArray x_ = array_of(Values(kSteps * kBatch * kInputs, 1), {kSteps, kBatch, kInputs});
  NDArray params_ = array_of(params_of(0.25f));
  NDArray state_ = array_of(Values(kBatch * kUnits, 1), {1, kBatch, kUnits});

 private:
  void bind() {
    if (GetParam() == As::kParts) {
      const std::vector<NDArray> parts = parts_of(params_);
      executor_ = bound(graph_of_parts(), {x_, parts[0], parts[1], parts[2], state_});
      return;
    }
    const ir::Graph graph =
        graph_of({apply("RNN", {variable("x"), variable("params"), variable("state")}, kAttrs)});
    executor_ = bound(graph, {x_, params_, state_});
  }
  std::unique_ptr<Executor> executor_;
};

INSTANTIATE_TEST_SUITE_P(All, RnnKept, testing::Values(As::kCall, As::kPlan, As::kParts),
                         [](const auto& info) {
                           return info.param == As::kCall   ? "Call"
                                  : info.param == As::kPlan ? "Plan"
                                                            : "Parts";
                         });

TEST_P(RnnKept, WeightsArePackedOnceUntilTheyChange) {
  keep();
  EXPECT_TRUE(runs_on_kept_weights());
  EXPECT_EQ(run(), expected());
  array_of(params_of(-0.25f)).copy_to(params_);
  EXPECT_EQ(run(), expected());
  keep();
  EXPECT_TRUE(runs_on_kept_weights());
}

TEST_P(RnnKept, WritesOfTheHostCount) {
  const auto is_seen = [&](const auto& write) {
    keep();
    ASSERT_TRUE(runs_on_kept_weights());
    write();
    EXPECT_EQ(run(), expected());
  };
  const Values half = params_of(0.5f), third = params_of(0.125f);
  is_seen([&] { params_.sync_copy_from(half.data(), kWeights + kBiases); });
  is_seen([&] { sync_copy_into(params_, array_of(third), kValuesPart); });
  is_seen([&] { params_.slice(1, 5).sync_copy_from(half.data(), 4); });
}

TEST_P(RnnKept, AnUpdateInABulkCountsForTheCallBehindIt) {
  keep();
  ASSERT_TRUE(runs_on_kept_weights());
  NDArray gradient = array_of(params_of(0.125f));
  const int before = Engine::get().set_bulk_size(16);
  call_into(params_, "sgd_update", {&params_, &gradient}, {{"lr", "1"}});
  const Values found = run();
  Engine::get().set_bulk_size(before);
  EXPECT_EQ(found, expected());
}

TEST_P(RnnKept, NothingIsKeptOnceOthersHaveTheAddress) {
  keep();
  ASSERT_TRUE(runs_on_kept_weights());
  DLManagedTensor* const tensor = to_dlpack(params_);
  keep();
  EXPECT_FALSE(runs_on_kept_weights());
  tensor->deleter(tensor);  // whoever had it may have passed the address on
  keep();
  EXPECT_FALSE(runs_on_kept_weights());
}

TEST_P(RnnKept, TrainingMakesNothingThatItsNextUpdateWouldEnd) {
  for (int i = 0; i < 3; ++i) {
    const Recording recording;
    call("RNN", {&x_, &params_, &state_}, kAttrs);
  }
  EXPECT_FALSE(runs_on_kept_weights()) << "the first call that keeps something is the second";
}

TEST(RnnOfParts, EachPartCountsAndAllPlansShareWhatIsKept) {
  const NDArray x = array_of(Values(kSteps * kBatch * kInputs, 1), {kSteps, kBatch, kInputs});
  const NDArray state = array_of(Values(kBatch * kUnits, 1), {1, kBatch, kUnits});
  const NDArray params = array_of(params_of(0.25f));
  std::vector<NDArray> parts;
  for (const NDArray& part : parts_of(params)) parts.push_back(part.copy(Device::cpu()));
  const auto values = [&] {
    const auto executor = bound(graph_of_parts(), {x, parts[0], parts[1], parts[2], state});
    executor->forward(false);
    return values_of(executor->outputs()[0]);
  };
  const auto unseen = [&](std::size_t part, float more) {  // a write that no version counts
    std::for_each_n(parts[part].data_as<float>(), parts[part].shape().size(),
                    [&](float& number) { number += more; });
  };
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (int i = 0; i < 2; ++i) values();
    const Values before = values();
    unseen(part, 1);
    EXPECT_EQ(values(), before) << part << " is looked at by a plan of its own";
    unseen(part, -1);
    NDArray more = call("_plus_scalar", {&parts[part]}, {{"scalar", "0.5"}});
    more.copy_to(parts[part]);
    EXPECT_NE(values(), before) << part << " has changed";
  }
}

TEST(RnnOfParts, LayersThatShareSomeWeightsKeepTheirOwn) {
  const NDArray x = array_of(Values(kSteps * kBatch * kInputs, 1), {kSteps, kBatch, kInputs});
  const NDArray state = array_of(Values(kBatch * kUnits, 1), {1, kBatch, kUnits});
  const NDArray params = array_of(params_of(0.25f));
  std::vector<NDArray> parts;
  for (const NDArray& part : parts_of(params)) parts.push_back(part.copy(Device::cpu()));
  NDArray others[] = {parts[1], parts[1].copy(Device::cpu())};
  call("_plus_scalar", {&parts[1]}, {{"scalar", "0.5"}}).copy_to(others[1]);
  const std::array layers{bound(graph_of_parts(), {x, parts[0], others[0], parts[2], state}),
                          bound(graph_of_parts(), {x, parts[0], others[1], parts[2], state})};
  const auto values = [&](std::size_t layer) {
    layers[layer]->forward(false);
    return values_of(layers[layer]->outputs()[0]);
  };
  for (int i = 0; i < 2; ++i)
    for (const std::size_t layer : {0, 1}) values(layer);
  const Values before[] = {values(0), values(1)};
  EXPECT_NE(before[0], before[1]);
  for (NDArray& part : others)
    std::for_each_n(part.data_as<float>(), part.shape().size(), [](float& number) { number += 1; });
  for (const std::size_t layer : {0, 1})
    EXPECT_EQ(values(layer), before[layer]) << "layer " << layer << " gathers its weights anew";
}

}  // namespace
}  // namespace mxnet
