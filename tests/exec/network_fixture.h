// SPDX-License-Identifier: Apache-2.0
// Small networks with random arrays, run by optimised plans and by the graph as it is written.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/simd.h"
#include "exec/plan_fixture.h"

namespace mxnet {

inline constexpr unsigned kSeed = 20261;

// A network with random arrays for its variables.
class Network {
 public:
  explicit Network(const Shape& data) { data_ = input("data", data); }

  // How many channels oneDNN keeps together, on which the layouts that it chooses depend.
  static int64_t block() { return simd_level() == 2 ? 16 : 8; }
  // Channels of which a convolution in so many groups leaves no full blocks, and which oneDNN does
  // not pad: where blocks are narrow it pads those of all that is one group.
  struct Unblocked {
    int64_t channels;
    int groups;
  };
  static Unblocked unblocked() { return block() == 16 ? Unblocked{20, 1} : Unblocked{10, 2}; }

  const Value& data() const { return data_; }
  Value input(const std::string& name, const Shape& shape, double least = -1) {
    names_.push_back(name);
    std::vector<float> values(static_cast<std::size_t>(shape.size()));
    std::uniform_real_distribution<float> uniform(static_cast<float>(least), 1);
    for (float& value : values) value = uniform(random_);
    arrays_[name] = array_of(std::move(values), shape);
    return variable(name);
  }
  Value conv(const std::string& name, const Value& in, int64_t from, int64_t to, int kernel = 3,
             bool bias = false, int groups = 1) {
    std::vector<Value> inputs{in, input(name + "_weight", {to, from / groups, kernel, kernel})};
    if (bias) inputs.push_back(input(name + "_bias", {to}));
    const std::string k = "(" + std::to_string(kernel) + "," + std::to_string(kernel) + ")";
    const std::string p = kernel == 3 ? "(1,1)" : "(0,0)";
    return named(name, apply("Convolution", inputs,
                             {{"kernel", k},
                              {"pad", p},
                              {"num_filter", std::to_string(to)},
                              {"num_group", std::to_string(groups)},
                              {"no_bias", bias ? "False" : "True"}}));
  }
  Value batch_norm(const std::string& name, const Value& in, int64_t channels,
                   const std::string& fix_gamma = "False") {
    return named(
        name, apply("BatchNorm",
                    {in, input(name + "_gamma", {channels}), input(name + "_beta", {channels}),
                     input(name + "_mean", {channels}), input(name + "_variance", {channels}, 0.5)},
                    {{"fix_gamma", fix_gamma}}));
  }
  NDArray& array(const std::string& name) { return arrays_.at(name); }

  // The arrays of a cached op's inputs.
  std::vector<NDArray> inputs(const ir::Graph& graph) const {
    const IndexedGraph indexed(graph);
    std::vector<NDArray> inputs;
    for (int n : indexed.variables()) inputs.push_back(arrays_.at(indexed.node(n).name).detach());
    return inputs;
  }
  Executor bind(const ir::Graph& graph, Request request = Request::kNull) {
    const IndexedGraph indexed(graph);
    ExecutorArrays arrays;
    for (int n : indexed.arguments()) {
      arrays.args.push_back(arrays_.at(indexed.node(n).name));
      const NDArray& arg = arrays.args.back();
      arrays.grads.push_back(
          request == Request::kNull
              ? NDArray()
              : array_of(Values(static_cast<std::size_t>(arg.size())), arg.shape()));
      arrays.requests.push_back(request);
    }
    for (int n : indexed.auxiliary()) arrays.aux.push_back(arrays_.at(indexed.node(n).name));
    return Executor(graph, Device::cpu(), std::move(arrays));
  }
  // Results of the plan, and its text.
  struct Result {
    Values values;
    std::string plan;
    // Steps whose line contains the text.
    int64_t steps(const std::string& text) const {
      int64_t count = 0;
      for (std::size_t at = plan.find(text); at != std::string::npos; at = plan.find(text, at + 1))
        ++count;
      return count;
    }
    int64_t steps() const { return steps("\n  "); }
  };
  // Gradients of all arguments and the states that a training step leaves, one after the other.
  std::vector<Values> train(const Value& output, std::string* plan = nullptr) {
    const std::map<std::string, NDArray> before = copies();
    Executor executor = bind(graph_of({output}), Request::kWrite);
    executor.forward(true);
    std::vector<Values> results{values_of(executor.outputs()[0])};
    executor.backward({});
    for (const NDArray& grad : executor.arrays().grads) results.push_back(values_of(grad));
    for (const NDArray& state : executor.arrays().aux) results.push_back(values_of(state));
    if (plan != nullptr) *plan = executor.debug_str();
    for (const auto& [name, array] : before) array.copy_to(arrays_.at(name));
    return results;
  }
  // Training by the optimised plan and as it is written agree; returns the plan.
  std::string check_training(const Value& output, double tolerance = 1e-4) {
    std::string plan;
    const std::vector<Values> laid_out = train(output, &plan);
    const Setting off("MXNET_SUBGRAPH_BACKEND", "NONE");
    const std::vector<Values> plain = train(output);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      SCOPED_TRACE(i);
      expect_near(laid_out[i], plain[i], tolerance);
    }
    return plan;
  }
  Result run(const Value& output) {
    Executor executor = bind(graph_of({output}));
    executor.forward(false);
    Values values = values_of(executor.outputs()[0]);
    return {std::move(values), executor.debug_str()};
  }
  // The plan and the graph as it is written agree; returns the plan's.
  Result check(const Value& output) {
    const Result fused = run(output);
    const Setting off("MXNET_SUBGRAPH_BACKEND", "NONE");
    const Result plain = run(output);
    expect_near(fused.values, plain.values);
    return fused;
  }
  static void expect_near(const Values& actual, const Values& expected, double tolerance = 1e-5) {
    ASSERT_EQ(actual.size(), expected.size());
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      largest = std::max(largest, std::abs(double{expected[i]}));
      difference = std::max(difference, std::abs(double{actual[i]} - double{expected[i]}));
    }
    EXPECT_LE(difference, tolerance * largest) << "seed " << kSeed;
  }

 private:
  std::map<std::string, NDArray> copies() const {
    std::map<std::string, NDArray> copies;
    for (const auto& [name, array] : arrays_)
      copies[name] = array_of(values_of(array), array.shape());
    return copies;
  }

  std::mt19937 random_{kSeed};
  std::map<std::string, NDArray> arrays_;
  std::vector<std::string> names_;
  Value data_;
};

inline Value relu(const Value& x) { return apply("Activation", {x}, {{"act_type", "relu"}}); }
inline Value sum(const Value& a, const Value& b) { return apply("elemwise_add", {a, b}); }

}  // namespace mxnet
