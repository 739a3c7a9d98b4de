// SPDX-License-Identifier: Apache-2.0
// Graphs, arrays for their variables, and their values by eager calls: what plans are compared to.
#pragma once
#include <map>
#include <random>
#include <string>
#include <vector>

#include "exec/arrays.h"
#include "exec/executor.h"
#include "graph/graphs.h"
#include "setting.h"

namespace mxnet {

inline NDArray random_array(const Shape& shape, std::mt19937& random) {
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : values) value = uniform(random);
  return array_of(std::move(values), shape);
}

// How often the text of a plan says something.
inline int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// dot, add, relu: `count` layers of `width`, with a weight and a bias each.
struct Mlp {
  Mlp(int count, int batch, int width, unsigned seed) : random(seed) {
    Value x = variable("data");
    shapes["data"] = {batch, width};
    for (int i = 0; i < count; ++i) {
      const std::string n = std::to_string(i);
      const Value product = named("fc" + n, apply("dot", {x, variable("w" + n)}));
      x = named("add" + n, apply("broadcast_add", {product, variable("b" + n)}));
      if (i + 1 < count) x = named("relu" + n, apply("relu", {x}));
      shapes["w" + n] = {width, width};
      shapes["b" + n] = {1, width};
    }
    graph = graph_of({x});
  }

  // One random array per argument, in order.
  std::vector<NDArray> arrays() {
    const IndexedGraph indexed(graph);
    std::vector<NDArray> arrays;
    for (int n : indexed.arguments())
      arrays.push_back(random_array(shapes[indexed.node(n).name], random));
    return arrays;
  }

  std::mt19937 random;
  std::map<std::string, Shape> shapes;
  ir::Graph graph;
};

// Up to some thirty operators on (4, 4) variables a, b, c and constants; two results, of which the
// first depends on all.
inline ir::Graph random_graph(std::mt19937& random) {
  std::vector<Value> values{variable("a"), variable("b"), variable("c")};
  const auto pick = [&] {
    return values[values.size() - 1 - random() % std::min<std::size_t>(values.size(), 7)];
  };
  const std::size_t count = 3 + random() % 25;
  for (std::size_t i = 0; i < count; ++i) {
    Value made;
    switch (random() % 8) {
      case 0:
        made = pick() + pick();
        break;
      case 1:
        made = pick() * pick();
        break;
      case 2:
        made = apply("dot", {pick(), pick()}) * 0.2;
        break;
      case 3:
        made = apply("tanh", {pick()});
        break;
      case 4:
        made = apply("transpose", {pick()});
        break;
      case 5:
        made = pick() * apply("cos", {apply("ones_like", {pick()}) * 0.5});
        break;
      case 6:
        made = pick() + apply("_full", {}, {{"shape", "(4, 4)"}, {"value", "0.25"}});
        break;
      default:
        made = apply("relu", {pick()}) - 0.1;
    }
    values.push_back(made);
  }
  const Value all = values.back() + values[0] + values[1] + values[2];
  return graph_of({all, values[values.size() / 2 + 1]});
}

inline ExecutorArrays bind_arrays(std::vector<NDArray> args, Request request = Request::kNull) {
  ExecutorArrays arrays;
  for (const NDArray& arg : args) {
    arrays.requests.push_back(request);
    arrays.grads.push_back(
        request == Request::kNull
            ? NDArray()
            : array_of(Values(static_cast<std::size_t>(arg.size()), 1.0f), arg.shape()));
  }
  arrays.args = std::move(args);
  return arrays;
}

// Results and gradients (with heads of ones) by eager calls.
struct EagerResults {
  std::vector<Values> outputs, grads;
};
inline EagerResults run_eagerly(const ir::Graph& graph, const std::vector<NDArray>& args,
                                bool training = true) {
  const EagerGraph eager{IndexedGraph(graph)};
  std::vector<NDArray> handles, buffers;
  for (const NDArray& arg : args) handles.push_back(arg.detach());
  for (NDArray& handle : handles) buffers.push_back(attach_grad(handle));
  std::vector<NDArray*> refs;
  for (NDArray& handle : handles) refs.push_back(&handle);
  std::vector<NDArray> outputs;
  {
    const AutogradScope scope({.recording = training, .training = training});
    outputs = eager.run(refs, Device::cpu());
  }
  EagerResults results;
  std::vector<const NDArray*> heads;
  for (const NDArray& output : outputs) {
    results.outputs.push_back(values_of(output));
    heads.push_back(&output);
  }
  if (!training) return results;
  backward(heads, {});
  for (const NDArray& buffer : buffers) results.grads.push_back(values_of(buffer));
  return results;
}

}  // namespace mxnet
