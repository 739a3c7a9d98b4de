// SPDX-License-Identifier: Apache-2.0
// One walk against the order of execution finds the steps, another one rewrites.
#include "graph/sink_strides.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "op/fused/conv.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

bool all_are(const Shape& shape, int64_t value) {
  return std::ranges::all_of(shape.dims(), [&](int64_t dim) { return dim == value; });
}

class Strides {
 public:
  Strides(const IndexedGraph& graph, const std::vector<ArrayType>& types)
      : graph_(graph),
        types_(types),
        readers_(static_cast<std::size_t>(graph.num_entries())),
        layers_(static_cast<std::size_t>(graph.num_nodes())) {
    for (int n = 0; n < graph.num_nodes(); ++n) {
      const std::span<const int> inputs = graph.inputs(n);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        readers_[static_cast<std::size_t>(inputs[i])].push_back({n, i});
      if (const FusedConvParams* params = params_of(graph.node(n)))
        layer(n).stride = {params->conv.stride_of(0), params->conv.stride_of(1)};
    }
    // Whoever takes a result reads all of it.
    for (int entry : graph.outputs()) readers_[static_cast<std::size_t>(entry)].push_back({-1, 0});
    for (int n = graph.num_nodes(); n-- > 0;) sink_into(n);
  }

  Replacement replace(const ir::Node& original, const ir::Node& node) const {
    const FusedConvParams* before = params_of(original);
    if (before == nullptr) return std::nullopt;
    const Layer& now = layers_[static_cast<std::size_t>(graph_.index_of(original))];
    if (!now.changed) return std::nullopt;
    auto params = std::make_shared<FusedConvParams>(*before);
    params->conv.stride = now.stride;
    Ref<ir::Node> layer = copy_node(node);
    layer->params = std::move(params);
    if (before->sum && !all_are(now.step, 1)) layer->inputs[1] = every(node.inputs[1], now.step);
    return std::vector<ir::Entry>{{layer, 0, 0}};
  }

 private:
  struct Reader {
    int node;  // -1: an output of the graph
    std::size_t input;
  };
  struct Layer {
    Shape stride, step{1, 1};  // of which the step was the readers'
    bool changed = false;
  };
  Layer& layer(int n) { return layers_[static_cast<std::size_t>(n)]; }

  // Of convolutions of images.
  static const FusedConvParams* params_of(const ir::Node& node) {
    if (node.is_variable() || (node.op->name() != FusedConvParams::kWithSum &&
                               node.op->name() != FusedConvParams::kWithoutSum))
      return nullptr;
    const auto* params = static_cast<const FusedConvParams*>(node.params.get());
    return params->conv.spatial() == 2 ? params : nullptr;
  }

  bool picks_pixels(const Reader& reader) const {
    if (reader.node < 0 || reader.input != 0) return false;
    const FusedConvParams* params = params_of(graph_.node(reader.node));
    return params != nullptr && all_are(params->conv.kernel, 1) && all_are(params->conv.pad, 0);
  }

  void sink_into(int n) {
    const FusedConvParams* params = params_of(graph_.node(n));
    if (params == nullptr) return;
    const auto& readers = readers_[static_cast<std::size_t>(graph_.first_entry(n))];
    if (readers.empty()) return;
    for (const Reader& reader : readers)
      if (!picks_pixels(reader) || layer(reader.node).stride != layer(readers[0].node).stride)
        return;
    const Shape step = layer(readers[0].node).stride, &own = layer(n).stride;
    const Shape stride{own[0] * step[0], own[1] * step[1]};
    if (all_are(step, 1) || !accepts(n, *params, stride)) return;
    layer(n) = {stride, step, true};
    for (const Reader& reader : readers) {
      layer(reader.node).stride = Shape{1, 1};
      layer(reader.node).changed = true;
    }
  }

  bool accepts(int n, const FusedConvParams& before, const Shape& stride) const {
    FusedConvParams params = before;
    params.conv.stride = stride;
    std::vector<Tensor> in;
    for (int entry : graph_.inputs(n)) {
      const ArrayType& type = types_[static_cast<std::size_t>(entry)];
      in.push_back({nullptr, &type.shape, type.dtype});
    }
    const ArrayType& type = types_[static_cast<std::size_t>(graph_.first_entry(n))];
    Shape shape = type.shape;
    for (int d = 0; d < 2; ++d)
      shape[d + 2] =
          (in[0].dim(d + 2) + 2 * params.conv.pad_of(d) - params.conv.reach(d)) / stride[d] + 1;
    if (params.sum) in[1].shape_ptr = &shape;
    const Tensor out{nullptr, &shape, type.dtype};
    return fused_conv_accepts(params, {in, {&out, 1}, false});
  }

  // The pixels that a step leaves, as means of one each.
  static ir::Entry every(const ir::Entry& value, const Shape& step) {
    const Value picked = apply("Pooling", {Value(value)},
                               {{"kernel", "(1,1)"},
                                {"stride", fmt::format("({},{})", step[0], step[1])},
                                {"pool_type", "avg"}});
    ir::Entry entry = picked.entry();
    entry.node->name = value.node->name + "_picked";
    return entry;
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  std::vector<std::vector<Reader>> readers_;  // per entry
  std::vector<Layer> layers_;                 // per node
};

}  // namespace

ir::Graph sink_strides(const IndexedGraph& graph, const std::vector<ArrayType>& types) {
  const Strides found(graph, types);
  return rewrite(graph.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
    return found.replace(original, *node);
  });
}

}  // namespace mxnet
