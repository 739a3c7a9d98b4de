// SPDX-License-Identifier: Apache-2.0
// Overhead of compiled graphs: a small network whose arithmetic takes next to nothing, a long chain
// of the cheapest operator, and a network that several threads run at once.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "base/config_table.h"
#include "exec/cached_op.h"
#include "exec/executor.h"
#include "exec/predictor.h"
#include "op/grad.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

Value variable(std::string name) {
  auto node = make_ref<ir::Node>();
  node->name = std::move(name);
  return Value(ir::Entry{Ref<ir::Node>(node.get()), 0, 0});
}

NDArray filled(const Shape& shape) {
  NDArray array(shape, DType::kFloat32, Device::cpu());
  std::vector<float> values(static_cast<std::size_t>(shape.size()), 0.01f);
  array.sync_copy_from(values.data(), array.size());
  return array;
}

// Fully connected layers with relu between them; the arrays of its variables in order.
struct Mlp {
  Mlp(int layers, int batch, int width) {
    Value x = variable("data");
    arrays.push_back(filled({batch, width}));
    for (int i = 0; i < layers; ++i) {
      const Value weight = variable("weight" + std::to_string(i));
      const Value bias = variable("bias" + std::to_string(i));
      x = apply("FullyConnected", {x, weight, bias}, {{"num_hidden", std::to_string(width)}});
      if (i + 1 < layers) x = apply("relu", {x});
      arrays.push_back(filled({width, width}));
      arrays.push_back(filled({width}));
    }
    graph.outputs = {x.entry()};
  }
  ExecutorArrays bound(Request request) const {
    ExecutorArrays bound{.args = arrays, .grads = {}, .aux = {}, .requests = {}};
    for (const NDArray& array : arrays) {
      bound.grads.push_back(request == Request::kNull ? NDArray() : filled(array.shape()));
      bound.requests.push_back(request);
    }
    return bound;
  }
  ir::Graph graph;
  std::vector<NDArray> arrays;
};

void executor_forward(benchmark::State& state) {
  const Mlp mlp(5, 4, 32);
  Executor executor(mlp.graph, Device::cpu(), mlp.bound(Request::kNull));
  for (auto _ : state) {
    executor.forward(false);
    executor.outputs()[0].wait_to_read();
  }
}
BENCHMARK(executor_forward);

void executor_forward_backward(benchmark::State& state) {
  const Mlp mlp(5, 4, 32);
  Executor executor(mlp.graph, Device::cpu(), mlp.bound(Request::kWrite));
  for (auto _ : state) {
    executor.forward(true);
    executor.backward({});
    executor.arrays().grads[0].wait_to_read();
  }
}
BENCHMARK(executor_forward_backward);

void cached_op_forward(benchmark::State& state) {
  Mlp mlp(5, 4, 32);
  CachedOp op(mlp.graph, {});
  std::vector<NDArray*> inputs;
  for (NDArray& array : mlp.arrays) inputs.push_back(&array);
  for (auto _ : state) {
    NDArray out;
    op.invoke(inputs, std::array<NDArray*, 1>{&out}, Device::cpu());
    out.wait_to_read();
  }
}
BENCHMARK(cached_op_forward);

void scalar_chain(benchmark::State& state) {
  Value x = variable("x");
  for (int64_t i = 0; i < state.range(0); ++i) x = x + 1.0;
  ExecutorArrays arrays{
      .args = {filled({1})}, .grads = {NDArray()}, .aux = {}, .requests = {Request::kNull}};
  Executor executor({.outputs = {x.entry()}}, Device::cpu(), arrays);
  for (auto _ : state) {
    executor.forward(false);
    executor.outputs()[0].wait_to_read();
  }
}
BENCHMARK(scalar_chain)->Arg(10000)->Unit(benchmark::kMicrosecond);

// x * sigmoid(1.702 x) and back, over 16 MiB: as many passes over memory as there are operators, or
// one. The argument is MXNET_USE_FUSION.
void pointwise_chain(benchmark::State& state) {
  const std::string before = config_get("MXNET_USE_FUSION");
  config_set("MXNET_USE_FUSION", state.range(0) != 0 ? "1" : "0");
  const Value x = variable("x");
  const Value gate = apply("sigmoid", {x * 1.702});
  const Value y = x * gate + x * 0.5 - gate * 0.25;
  ExecutorArrays arrays{.args = {filled({1 << 22})},
                        .grads = {filled({1 << 22})},
                        .aux = {},
                        .requests = {Request::kWrite}};
  Executor executor({.outputs = {y.entry()}}, Device::cpu(), arrays);
  const bool training = state.range(1) != 0;
  const NDArray head = filled({1 << 22});
  const std::array<const NDArray*, 1> heads{&head};
  for (auto _ : state) {
    executor.forward(training);
    if (training) executor.backward(heads);
    executor.outputs()[0].wait_to_read();
    if (training) executor.arrays().grads[0].wait_to_read();
  }
  config_set("MXNET_USE_FUSION", before);
}
BENCHMARK(pointwise_chain)
    ->ArgNames({"fusion", "training"})
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Two towers of products, each operator an engine operation of its own; the argument is
// MXNET_EXEC_NUM_TEMP. Run with OMP_NUM_THREADS=1 MXNET_CPU_WORKER_NTHREADS=2.
void two_branches(benchmark::State& state) {
  const std::string branches = config_get("MXNET_EXEC_NUM_TEMP");
  const std::string bulk = config_get("MXNET_EXEC_BULK_EXEC_INFERENCE");
  config_set("MXNET_EXEC_NUM_TEMP", std::to_string(state.range(0)));
  config_set("MXNET_EXEC_BULK_EXEC_INFERENCE", "0");
  const Value x = variable("x");
  Value left = x, right = x;
  for (int i = 0; i < 8; ++i) {
    left = apply("tanh", {apply("dot", {left, x})});
    right = apply("sin", {apply("dot", {right, x})});
  }
  ExecutorArrays arrays{
      .args = {filled({256, 256})}, .grads = {NDArray()}, .aux = {}, .requests = {Request::kNull}};
  Executor executor({.outputs = {(left + right).entry()}}, Device::cpu(), arrays);
  for (auto _ : state) {
    executor.forward(false);
    executor.outputs()[0].wait_to_read();
  }
  config_set("MXNET_EXEC_NUM_TEMP", branches);
  config_set("MXNET_EXEC_BULK_EXEC_INFERENCE", bulk);
}
BENCHMARK(two_branches)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

// Threads on shared weights, each with its own activations and inputs; run with OMP_NUM_THREADS=1.
// Layers of 256 on a batch of 64: weights and activations of all threads stay in their caches.
const Mlp& shared_mlp() {
  static const Mlp& mlp = *new Mlp(6, 64, 256);  // leaked: threads end after main does
  return mlp;
}

void cached_op_threads(benchmark::State& state) {
  static CachedOp& op = *new CachedOp(shared_mlp().graph, CachedOpFlags());
  std::vector<NDArray> arrays;
  for (const NDArray& array : shared_mlp().arrays) arrays.push_back(array.detach());
  arrays[0] = filled({64, 256});
  std::vector<NDArray*> inputs;
  for (NDArray& array : arrays) inputs.push_back(&array);
  for (auto _ : state) {
    NDArray out;
    op.invoke(inputs, std::array<NDArray*, 1>{&out}, Device::cpu());
    out.wait_to_read();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(cached_op_threads)->Threads(1)->Threads(2)->UseRealTime();

// A lone caller with work of its own between the call and its result (microseconds): the call runs
// on a worker meanwhile. Compare with cached_op_threads and predictor_threads, which run it first.
void cached_op_beside_work(benchmark::State& state) {
  CachedOp op(shared_mlp().graph, CachedOpFlags());
  std::vector<NDArray> arrays;
  for (const NDArray& array : shared_mlp().arrays) arrays.push_back(array.detach());
  std::vector<NDArray*> inputs;
  for (NDArray& array : arrays) inputs.push_back(&array);
  const std::chrono::microseconds work(state.range(0));
  for (auto _ : state) {
    NDArray out;
    op.invoke(inputs, std::array<NDArray*, 1>{&out}, Device::cpu());
    const auto until = std::chrono::steady_clock::now() + work;
    while (std::chrono::steady_clock::now() < until) continue;
    out.wait_to_read();
  }
}
BENCHMARK(cached_op_beside_work)->ArgName("us")->Arg(0)->Arg(300)->UseRealTime();

void predictor_threads(benchmark::State& state) {
  static const std::shared_ptr<const PredictModel> model = [] {
    PredictModel made{shared_mlp().graph, {}, Device::cpu()};
    std::size_t next = 0;
    for (const ir::Node* node : ir::topological_order(made.graph.outputs)) {
      if (!node->is_variable()) continue;
      const NDArray& array = shared_mlp().arrays[next++];
      if (node->name != "data") made.parameters[node->name] = array;
    }
    return std::make_shared<const PredictModel>(std::move(made));
  }();
  Predictor predictor(model, {{"data", Shape{64, 256}}}, {{"data", DType::kFloat32}});
  const std::vector<float> data(64 * 256, 0.01f);
  for (auto _ : state) {
    predictor.set_input("data", data.data(), static_cast<int64_t>(data.size()));
    predictor.forward();
    predictor.output(0).wait_to_read();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(predictor_threads)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace mxnet

BENCHMARK_MAIN();
