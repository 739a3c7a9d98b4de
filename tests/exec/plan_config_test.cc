// SPDX-License-Identifier: Apache-2.0
// What the variables of graph execution and memory planning change: engine operations, bytes, log
// lines.
#include <gtest/gtest.h>

#include <atomic>

#include "base/hooks.h"
#include "exec/plan_fixture.h"

namespace mxnet {
namespace {

// Counts the engine operations of a scope.
class OperationCount final : public Observer {
 public:
  OperationCount() {
    Engine::get().wait_for_all();
    g_observer.store(this, std::memory_order_release);
  }
  ~OperationCount() override { stop(); }
  int stop() {
    Engine::get().wait_for_all();
    g_observer.store(nullptr, std::memory_order_release);
    return count_.load();
  }
  void operation_begin(const char*, Device, uint64_t) override { ++count_; }
  void operation_end(const char*, Device, uint64_t) override {}
  void memory_event(Device, const char*, int64_t) override {}

 private:
  std::atomic<int> count_{0};
};

// x + 1 + 1 + ...: `length` operators forward.
ir::Graph chain(int length) {
  Value x = variable("x");
  for (int i = 0; i < length; ++i) x = apply("tanh", {x});
  return graph_of({x});
}

// Engine operations of one forward (and backward) pass over `length` operators.
int forward_operations(int length, bool training) {
  Executor executor(chain(length), Device::cpu(),
                    bind_arrays({array_of({1, 2})}, training ? Request::kWrite : Request::kNull));
  executor.forward(training);  // compiles
  OperationCount count;
  executor.forward(training);
  return count.stop();
}
int backward_operations(int length) {
  Executor executor(chain(length), Device::cpu(), bind_arrays({array_of({1, 2})}, Request::kWrite));
  const NDArray head = array_of({1, 1});
  const NDArray* heads[] = {&head};
  for (int i = 0; i < 2; ++i) {
    executor.forward(true);
    if (i == 0) executor.backward(heads);
  }
  OperationCount count;
  executor.backward(heads);
  return count.stop() - 1;  // the head gradient's copy
}

std::size_t planned_bytes(const ir::Graph& graph, const Shape& shape) {
  IndexedGraph indexed(graph);
  std::vector<ArrayType> types = types_of(indexed, shape);
  return Plan(std::move(indexed), std::move(types), PlanOptions::configured(Device::cpu(), false))
      .memory()
      .arena_bytes;
}

TEST(PlanConfig, InferenceIsOneOperationUnlessBulkIsOff) {
  EXPECT_EQ(forward_operations(40, false), 1);
  const Setting off("MXNET_EXEC_BULK_EXEC_INFERENCE", "0");
  EXPECT_EQ(forward_operations(40, false), 40);
}

TEST(PlanConfig, TrainingIsMergedUnlessBulkIsOff) {
  EXPECT_EQ(forward_operations(40, true), 3);  // 15 + 15 + 10
  const Setting off("MXNET_EXEC_BULK_EXEC_TRAIN", "0");
  EXPECT_EQ(forward_operations(40, true), 40);
}

TEST(PlanConfig, TrainingMergesAtMostSoManyNodes) {
  const Setting most("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "20");
  EXPECT_EQ(forward_operations(40, true), 2);
}

TEST(PlanConfig, ForwardHasALimitOfItsOwn) {
  const int backward = backward_operations(40);
  const Setting most("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", "5");
  EXPECT_EQ(forward_operations(40, true), 8);
  EXPECT_EQ(backward_operations(40), backward);
}

TEST(PlanConfig, BackwardHasALimitOfItsOwn) {
  const Setting most("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "1");
  EXPECT_EQ(forward_operations(40, true), 3);
  EXPECT_GE(backward_operations(40), 40);
}

TEST(PlanConfig, InPlaceSavesBytes) {
  // The middle of a chain, so that the result's own array is no part of it.
  const Value x = apply("tanh", {apply("tanh", {apply("tanh", {variable("x")})})});
  const ir::Graph graph = graph_of({apply("dot", {x, x})});
  EXPECT_EQ(planned_bytes(graph, {16, 16}), 1024u);
  const Setting off("MXNET_EXEC_ENABLE_INPLACE", "0");
  EXPECT_EQ(planned_bytes(graph, {16, 16}), 2048u);
}

TEST(PlanConfig, MatchRangeLimitsWhoSharesBytes) {
  Value x = variable("x");
  for (int i = 0; i < 5; ++i) x = apply("dot", {x, x});  // never in place
  const ir::Graph graph = graph_of({x});
  EXPECT_EQ(planned_bytes(graph, {16, 16}), 2048u);
  const Setting none("NNVM_EXEC_MATCH_RANGE", "0");
  EXPECT_EQ(planned_bytes(graph, {16, 16}), 4096u);
}

// A vector, made longer, shorter and combined again and again.
ir::Graph of_many_sizes(std::mt19937& random) {
  struct Vector {
    Value value;
    int length;
  };
  std::vector<Vector> vectors{{variable("x"), 64}};
  for (int i = 0; i < 24; ++i) {
    const auto& [value, length] = vectors[random() % vectors.size()];
    const Value& other = vectors[random() % vectors.size()].value;
    const int times = 2 + static_cast<int>(random() % 3);
    if (random() % 2 == 0 && length < 4096) {
      const Attrs reps{{"reps", "(" + std::to_string(times) + ",)"}};
      vectors.push_back({apply("tile", {value}, reps), length * times});
    } else if (random() % 2 == 0 && length >= 64) {
      const Attrs half{{"axis", "0"}, {"begin", "0"}, {"end", std::to_string(length / 2)}};
      vectors.push_back({apply("slice_axis", {value}, half), length / 2});
    } else {
      const Value sum = apply("sum", {other}, {{"axis", "0"}, {"keepdims", "1"}});
      vectors.push_back({apply("broadcast_add", {value, sum}), length});
    }
  }
  Value all = apply("sum", {vectors[0].value});
  for (const Vector& vector : vectors) all = all + apply("sum", {vector.value});
  return graph_of({all});
}

TEST(PlanConfig, SearchingTheMatchRangeSavesBytes) {
  constexpr unsigned kSeed = 5;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const Setting range("NNVM_EXEC_MATCH_RANGE", "64");
  int saved = 0;
  for (int round = 0; round < 100; ++round) {
    const ir::Graph graph = of_many_sizes(random);
    const std::size_t one = planned_bytes(graph, {64});
    const Setting search("NNVM_AUTO_SEARCH_MATCH_RANGE", "1");
    const std::size_t best = planned_bytes(graph, {64});
    EXPECT_LE(best, one);
    saved += best < one;
  }
  EXPECT_GT(saved, 0);
}

TEST(PlanConfig, LongGradientSumsAreChains) {
  Value x = variable("x"), sum;
  for (int i = 0; i < 6; ++i) sum = sum + x * (i + 1.0);
  const auto text = [&] {
    return Executor(graph_of({sum}), Device::cpu(), bind_arrays({array_of({1})}, Request::kWrite))
        .debug_str();
  };
  EXPECT_TRUE(contains(text(), "add_n"));
  const Setting cap("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", "3");
  EXPECT_FALSE(contains(text(), "add_n"));
}

// Layers of product, addition and relu, and the bytes that their training needs.
std::size_t training_bytes(const ir::Graph& graph, const std::vector<NDArray>& args,
                           EagerResults* results) {
  Executor executor(graph, Device::cpu(), bind_arrays(args, Request::kWrite));
  executor.forward(true);
  executor.backward({});
  results->outputs = {values_of(executor.outputs()[0])};
  results->grads.clear();
  for (const NDArray& grad : executor.arrays().grads) results->grads.push_back(values_of(grad));
  return executor.pool()->bytes();
}

// Several elementwise operators after each product.
ir::Graph deep(int layers) {
  Value x = variable("x");
  for (int i = 0; i < layers; ++i) {
    x = apply("dot", {x, variable("w" + std::to_string(i))});
    x = apply("tanh", {x * 0.5});
    x = x * x + 0.25;
    x = apply("sigmoid", {x});
  }
  return graph_of({x});
}
std::vector<NDArray> deep_arrays(int layers) {
  std::mt19937 random(8);
  std::vector<NDArray> arrays;
  for (int i = 0; i <= layers; ++i) arrays.push_back(random_array({16, 16}, random));
  return arrays;
}

void expect_same(const EagerResults& a, const EagerResults& b) {
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.grads, b.grads);
}

TEST(PlanConfig, MirroringSavesBytesAndChangesNoResult) {
  EagerResults plain, mirrored;
  const std::vector<NDArray> args = deep_arrays(12);
  const std::size_t before = training_bytes(deep(12), args, &plain);
  const Setting on("MXNET_BACKWARD_DO_MIRROR", "1");
  EXPECT_LT(training_bytes(deep(12), args, &mirrored), before * 6 / 10);
  expect_same(plain, mirrored);
}

TEST(PlanConfig, MemoryOptimizationTakesTheSmallestPlan) {
  EagerResults plain, cheap, best;
  const std::vector<NDArray> args = deep_arrays(24);
  training_bytes(deep(24), args, &plain);
  std::size_t mirrored;
  {
    const Setting on("MXNET_BACKWARD_DO_MIRROR", "1");
    mirrored = training_bytes(deep(24), args, &cheap);
  }
  const Setting on("MXNET_MEMORY_OPT", "1");
  EXPECT_LT(training_bytes(deep(24), args, &best), mirrored);
  expect_same(plain, best);
}

TEST(PlanConfig, ABudgetIsKeptWithAsLittleRecomputationAsPossible) {
  EagerResults plain, bounded;
  const std::vector<NDArray> args = deep_arrays(24);
  const std::size_t before = training_bytes(deep(24), args, &plain);
  const Setting budget("MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(before / 2));
  const std::size_t half = training_bytes(deep(24), args, &bounded);
  EXPECT_LE(half, before / 2);
  expect_same(plain, bounded);
  // One that is never reached changes nothing.
  const Setting large("MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(before));
  EXPECT_EQ(training_bytes(deep(24), args, &bounded), before);
}

std::string logged(const char* variable_name) {
  const Setting on(variable_name, "1");
  testing::internal::CaptureStderr();
  Executor executor(chain(3), Device::cpu(), bind_arrays({array_of({1, 2})}));
  executor.forward(false);
  Engine::get().wait_for_all();
  return testing::internal::GetCapturedStderr();
}

TEST(PlanConfig, VerboseExecutorsLogTheirGraph) {
  EXPECT_TRUE(contains(logged("MXNET_EXEC_VERBOSE_LOGGING"), "tanh"));
}

TEST(PlanConfig, VerboseMemoryPlansLogTheirBytes) {
  EXPECT_TRUE(contains(logged("MXNET_MEM_PLAN_VERBOSE_LOGGING"), "planned bytes"));
}

}  // namespace
}  // namespace mxnet
