// SPDX-License-Identifier: Apache-2.0
// Networks written down as their papers do, layer by layer.
#include "networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "exec/plan_graph.h"
#include "graph/infer_symbol.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

Symbol layer(const char* op, std::string name, std::initializer_list<const Symbol*> inputs,
             Attrs attrs) {
  Symbol symbol = Symbol::atomic(Registry::get().at(op), std::move(attrs));
  symbol.compose(std::move(name), {}, inputs);
  return symbol;
}

struct Conv {
  int filters, kernel, stride = 1;
  bool bias = false;
};
Symbol convolution(const std::string& name, const Symbol& x, const Conv& conv) {
  const int pad = conv.kernel / 2;
  return layer("Convolution", name, {&x},
               {{"num_filter", std::to_string(conv.filters)},
                {"kernel", fmt::format("({0}, {0})", conv.kernel)},
                {"stride", fmt::format("({0}, {0})", conv.stride)},
                {"pad", fmt::format("({0}, {0})", pad)},
                {"no_bias", conv.bias ? "False" : "True"}});
}
Symbol relu(const std::string& name, const Symbol& x) {
  return layer("Activation", name, {&x}, {{"act_type", "relu"}});
}
Symbol normalised(const std::string& name, const Symbol& x, const Conv& conv) {
  const Symbol y = convolution(name, x, conv);
  return layer("BatchNorm", name + "_bn", {&y}, {{"fix_gamma", "False"}});
}
Symbol max_pool(const std::string& name, const Symbol& x, int kernel, int pad) {
  return layer("Pooling", name, {&x},
               {{"kernel", fmt::format("({0}, {0})", kernel)},
                {"stride", "(2, 2)"},
                {"pad", fmt::format("({0}, {0})", pad)},
                {"pool_type", "max"}});
}
Symbol dense(const std::string& name, const Symbol& x, int units) {
  return layer("FullyConnected", name, {&x}, {{"num_hidden", std::to_string(units)}});
}

// 1x1, 3x3, 1x1 beside what went in.
Symbol bottleneck(const std::string& name, const Symbol& x, int filters, int stride, bool project) {
  Symbol y = relu(name + "_relu1", normalised(name + "_conv1", x, {filters / 4, 1, stride}));
  y = relu(name + "_relu2", normalised(name + "_conv2", y, {filters / 4, 3}));
  y = normalised(name + "_conv3", y, {filters, 1});
  const Symbol shortcut = project ? normalised(name + "_project", x, {filters, 1, stride}) : x;
  const Symbol sum = layer("elemwise_add", name + "_add", {&y, &shortcut}, {});
  return relu(name + "_relu", sum);
}

}  // namespace

Symbol resnet50_v1() {
  Symbol x = relu("relu0", normalised("conv0", Symbol::variable("data"), {64, 7, 2}));
  x = max_pool("pool0", x, 3, 1);
  constexpr std::array<int, 4> kBlocks{3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    for (int b = 0; b < kBlocks[static_cast<std::size_t>(stage)]; ++b) {
      const int stride = stage > 0 && b == 0 ? 2 : 1;
      x = bottleneck(fmt::format("stage{}_block{}", stage, b), x, 256 << stage, stride, b == 0);
    }
  }
  x = layer("Pooling", "pool1", {&x},
            {{"global_pool", "True"}, {"kernel", "(7, 7)"}, {"pool_type", "avg"}});
  return dense("fc", x, 1000);
}

Symbol vgg16() {
  Symbol x = Symbol::variable("data");
  constexpr std::array<int, 5> kLayers{2, 2, 3, 3, 3}, kFilters{64, 128, 256, 512, 512};
  for (std::size_t stage = 0; stage < kLayers.size(); ++stage) {
    for (int i = 0; i < kLayers[stage]; ++i) {
      const std::string name = fmt::format("conv{}_{}", stage, i);
      x = relu(name + "_relu", convolution(name, x, {kFilters[stage], 3, 1, true}));
    }
    x = max_pool(fmt::format("pool{}", stage), x, 2, 0);
  }
  for (int i = 0; i < 2; ++i) {
    const Symbol y = relu(fmt::format("fc{}_relu", i), dense(fmt::format("fc{}", i), x, 4096));
    x = layer("Dropout", fmt::format("dropout{}", i), {&y}, {{"p", "0.5"}});
  }
  return dense("fc2", x, 1000);
}

PlannedBytes planned_bytes(const Symbol& network, const Shape& data, Pass pass) {
  const IndexedGraph graph(network.graph());
  const std::vector<ArrayType> types =
      infer_entries(graph, {.names = {"data"}, .types = {{data, DType::kFloat32}}}, true);
  std::map<const ir::Node*, ArrayType> known;
  for (int n : graph.variables())
    known[&graph.node(n)] = types[static_cast<std::size_t>(graph.first_entry(n))];

  const bool trains = pass == Pass::kTraining;
  PlanOptions options = PlanOptions::configured(Device::cpu(), trains);
  ir::Graph compiled = compiled_graph(network.graph(), known, options);
  if (trains) {
    std::vector<ir::Entry> wrt;
    const IndexedGraph forward(compiled);
    const std::span<const int> arguments = forward.arguments();
    for (ir::Node* node : ir::topological_order(compiled.outputs)) {
      const bool argument =
          std::ranges::find(arguments, forward.index_of(*node)) != arguments.end();
      if (argument && node->name != "data") wrt.push_back({Ref<ir::Node>(node), 0, 0});
    }
    TrainingGraph training = training_graph(compiled, wrt, known);
    for (std::size_t o = 0; o < training.head_grads.size(); ++o)
      known[training.head_grads[o].node.get()] =
          types[static_cast<std::size_t>(graph.outputs()[o])];
    options.forward_outputs = training.forward_outputs;
    compiled = std::move(training.graph);
  }
  TypedGraph typed = typed_graph(std::move(compiled), known, options);
  const Plan plan(std::move(typed.graph), std::move(typed.types), options,
                  std::move(typed.kernels));
  return {plan.memory().arena_bytes, plan.memory().unshared_bytes};
}

}  // namespace mxnet
