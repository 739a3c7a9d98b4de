// SPDX-License-Identifier: Apache-2.0
// Networks that run as plans on both devices.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "exec/executor.h"
#include "graph/graphs.h"
#include "setting.h"
#include "tests/exec/arrays.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet::testing::gpu {

// Small networks with arrays of one type; parameters of normalisations are float32.
class Images {
 public:
  explicit Images(const char* dtype) : dtype_(dtype) {}

  Value input(const std::string& name, const Shape& shape, float low = -1) {
    return given(name, shape, low, dtype_);
  }
  Value conv(const std::string& name, const Value& in, int64_t from, int64_t to, int kernel,
             bool bias = false, int groups = 1, const char* layout = "NCHW") {
    const bool last = std::string(layout) == "NHWC";
    const Shape weight =
        last ? Shape{to, kernel, kernel, from / groups} : Shape{to, from / groups, kernel, kernel};
    std::vector<Value> inputs{in, input(name + "_weight", weight)};
    if (bias) inputs.push_back(input(name + "_bias", {to}));
    const std::string k = std::to_string(kernel), p = std::to_string(kernel / 2);
    return named(name, apply("Convolution", inputs,
                             {{"kernel", "(" + k + "," + k + ")"},
                              {"pad", "(" + p + "," + p + ")"},
                              {"num_filter", std::to_string(to)},
                              {"num_group", std::to_string(groups)},
                              {"layout", layout},
                              {"no_bias", bias ? "False" : "True"}}));
  }
  Value normed(const std::string& name, const Value& in, int64_t channels,
               const char* fix_gamma = "False", const char* axis = "1") {
    const auto parameter = [&](const char* suffix, float low) {
      return given(name + suffix, {channels}, low, "float32");
    };
    return named(name, apply("BatchNorm",
                             {in, parameter("_gamma", -1), parameter("_beta", -1),
                              parameter("_mean", -1), parameter("_var", 0.5f)},
                             {{"fix_gamma", fix_gamma}, {"axis", axis}}));
  }

  // The plan's text on the GPU, whose results must be the CPU's.
  std::string check(const Value& output, double tolerance) {
    const Setting as_written("MXNET_SUBGRAPH_BACKEND", "NONE");
    const auto [expected, ignored] = run(output, Device::cpu());
    const auto [result, plan] = run(output, kGpu);
    EXPECT_EQ(result.size(), expected.size());
    double largest = 0;
    for (const float value : expected) largest = std::max(largest, std::fabs(double{value}));
    for (std::size_t i = 0; i < std::min(result.size(), expected.size()); ++i) {
      EXPECT_NEAR(result[i], expected[i], tolerance * largest) << i << "\n" << plan;
      if (::testing::Test::HasFailure()) break;
    }
    return plan;
  }
  // Results and the plan's text.
  std::pair<Values, std::string> run(const Value& output, Device device) {
    Executor executor = bind(output, device, Request::kNull);
    executor.forward(false);
    return {values_as_float(executor.outputs()[0]), executor.debug_str()};
  }
  // The result of a step of training, the gradients of all arguments and the moving averages that
  // it leaves; and the plan's text.
  std::pair<std::vector<Values>, std::string> train(const Value& output, Device device) {
    Executor executor = bind(output, device, Request::kWrite);
    executor.forward(true);
    std::vector<Values> results{values_as_float(executor.outputs()[0])};
    executor.backward({});
    for (const NDArray& grad : executor.arrays().grads) results.push_back(values_as_float(grad));
    for (const NDArray& state : executor.arrays().aux) results.push_back(values_as_float(state));
    return {results, executor.debug_str()};
  }
  Executor bind(const Value& output, Device device, Request request) {
    const ir::Graph graph = graph_of({output});
    const IndexedGraph indexed(graph);
    ExecutorArrays arrays;
    for (const int n : indexed.arguments()) {
      const Input& input = inputs_.at(indexed.node(n).name);
      arrays.args.push_back(input.on(device));
      arrays.grads.push_back(request == Request::kNull ? NDArray() : input.on(device));
      arrays.requests.push_back(request);
    }
    for (const int n : indexed.auxiliary())
      arrays.aux.push_back(inputs_.at(indexed.node(n).name).on(device));
    return Executor(graph, device, std::move(arrays));
  }

 private:
  Value given(const std::string& name, const Shape& shape, float low, const char* dtype) {
    inputs_[name] = {random_values(shape.size() + static_cast<int64_t>(inputs_.size()), low, 1),
                     shape, dtype};
    inputs_[name].values.resize(static_cast<std::size_t>(shape.size()));
    return variable(name);
  }

  const char* const dtype_;
  std::map<std::string, Input> inputs_;
};

inline int count(const std::string& plan, const std::string& text) {
  int found = 0;
  for (std::size_t at = plan.find(text); at != std::string::npos; at = plan.find(text, at + 1))
    ++found;
  return found;
}

inline Value relu(const Value& x) { return apply("Activation", {x}, {{"act_type", "relu"}}); }
inline Value sum(const Value& a, const Value& b) { return apply("elemwise_add", {a, b}); }

struct Type {
  const char* name;
  double tolerance;
};
constexpr Type kTypes[] = {{"float32", 1e-5}, {"float16", 4e-3}, {"bfloat16", 3e-2}};

}  // namespace mxnet::testing::gpu
