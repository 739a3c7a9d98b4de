// SPDX-License-Identifier: Apache-2.0
// One walk: a convolution turns what it reads, others follow where all that they read is turned.
// Every turned value is turned back as well; what nobody reads of that is no part of the graph.
#include "graph/channels_last.h"

#include <memory>
#include <optional>
#include <unordered_map>

#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "op/fused/conv.h"
#include "op/grad.h"
#include "op/nn/pooling_geometry.h"
#include "op/norm/batch_norm_params.h"
#include "op/op_def.h"
#include "op/params.h"
#include "op/pointwise.h"

namespace mxnet {
namespace {

constexpr const char *kToLast = "(0,2,3,1)", *kToFirst = "(0,3,1,2)";

// A node that reads and makes turned images.
struct Turned {
  std::shared_ptr<const void> params;
  uint32_t images;  // bits of inputs; the first output is one
};

template <class P, class Change>
std::shared_ptr<const void> changed(const ir::Node& node, const Change& change) {
  auto params = std::make_shared<P>(*static_cast<const P*>(node.params.get()));
  change(*params);
  return params;
}

class Turning {
 public:
  Turning(const IndexedGraph& graph, const std::vector<ArrayType>& types)
      : graph_(graph), types_(types) {}

  Replacement replace(const ir::Node& original, const ir::Node& node) {
    const std::optional<Turned> turned = turned_form(original);
    if (!turned) return std::nullopt;
    Ref<ir::Node> copy = copy_node(node);
    copy->params = turned->params;
    for (std::size_t i = 0; i < copy->inputs.size(); ++i)
      if ((turned->images >> i & 1) != 0)
        copy->inputs[i] = to_last(graph_.entry(original.inputs[i]), node.inputs[i]);
    const int n = graph_.index_of(original), result = graph_.first_entry(n);
    last_[result] = {copy, 0, 0};
    std::vector<ir::Entry> outputs{transposed({copy, 0, 0}, result, kToFirst)};
    for (int o = 1; o < graph_.num_outputs(n); ++o) outputs.push_back({copy, o, 0});
    return outputs;
  }

  // Of what is left of the transpositions in a graph.
  TurnedBytes bytes_in(const ir::Graph& result) const {
    TurnedBytes bytes{by_library_, 0};
    const IndexedGraph indexed(result);
    for (int n = 0; n < indexed.num_nodes(); ++n) {
      const auto made = made_.find(&indexed.node(n));
      if (made != made_.end()) bytes.at_borders += made->second.bytes;
    }
    return bytes;
  }

 private:
  const ArrayType& type(int entry) const { return types_[static_cast<std::size_t>(entry)]; }
  const ArrayType& type(const ir::Entry& entry) const { return type(graph_.entry(entry)); }
  static int64_t bytes_of(const ArrayType& type) {
    return type.shape.size() * static_cast<int64_t>(dtype_size(type.dtype));
  }
  bool is_image(const ir::Entry& entry) const { return type(entry).shape.ndim() == 4; }
  bool is_turned(const ir::Entry& entry) const { return last_.count(graph_.entry(entry)) != 0; }

  std::optional<Turned> turned_form(const ir::Node& node) {
    if (node.is_variable() || !node.control_deps().empty() || node.inputs.empty() ||
        !is_image(node.inputs[0]))
      return std::nullopt;
    const std::string& op = node.op->name();
    if (op == FusedConvParams::kOnGpu) return convolution(node);
    if (op == "Concat") return concatenation(node);
    if (pointwise_kernel(*node.op) != nullptr) return pointwise(node);
    if (!is_turned(node.inputs[0])) return std::nullopt;
    if (op == "Pooling" && !channels_last(params_of<PoolParams>(node).layout))
      return Turned{changed<PoolParams>(node, [](PoolParams& p) { p.layout = Layout::kNHWC; }), 1};
    if (op == "BatchNorm" && params_of<BatchNormParams>(node).axis == 1)
      return Turned{changed<BatchNormParams>(node, [](BatchNormParams& p) { p.axis = 3; }), 1};
    return std::nullopt;
  }
  template <class P>
  static const P& params_of(const ir::Node& node) {
    return *static_cast<const P*>(node.params.get());
  }

  std::optional<Turned> convolution(const ir::Node& node) {
    const auto& params = params_of<FusedConvParams>(node);
    if (params.conv.spatial() != 2 || channels_last(params.conv.layout)) return std::nullopt;
    const ArrayType& image = type(node.inputs[0]);
    const ArrayType& map = type(graph_.first_entry(graph_.index_of(node)));
    if (wants_channels_last(image.dtype, image.shape[1] / params.conv.num_group,
                            map.shape[1] / params.conv.num_group))
      by_library_ += bytes_of(image) + bytes_of(map);
    return Turned{changed<FusedConvParams>(node,
                                           [](FusedConvParams& p) {
                                             p.conv.layout = Layout::kNHWC;
                                             p.turns_weight = true;
                                           }),
                  params.sum ? 3u : 1u};
  }
  std::optional<Turned> concatenation(const ir::Node& node) {
    const int dim = params_of<JoinParams>(node).dim;
    if ((dim != 1 && dim != -3) || node.inputs.size() > 32) return std::nullopt;
    for (const ir::Entry& input : node.inputs)
      if (!is_turned(input)) return std::nullopt;
    return Turned{changed<JoinParams>(node, [](JoinParams& p) { p.dim = 3; }), ~0u};
  }
  // Arrays of one element are read as they are.
  std::optional<Turned> pointwise(const ir::Node& node) {
    const int n = graph_.index_of(node);
    const Shape& shape = type(graph_.first_entry(n)).shape;
    uint32_t images = 0;
    if (graph_.num_outputs(n) != 1 || node.inputs.size() > 32) return std::nullopt;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ir::Entry& input = node.inputs[i];
      if (is_turned(input) && type(input).shape == shape)
        images |= 1u << i;
      else if (type(input).shape.size() != 1)
        return std::nullopt;
    }
    return images == 0 ? std::nullopt : std::optional<Turned>({node.params, images});
  }

  ir::Entry to_last(int entry, const ir::Entry& first) {
    const auto [at, is_new] = last_.try_emplace(entry);
    if (is_new) at->second = transposed(first, entry, kToLast);
    return at->second;
  }
  ir::Entry transposed(const ir::Entry& value, int entry, const char* axes) {
    ir::Entry result = apply("transpose", {Value(value)}, {{"axes", axes}}).entry();
    result.node->name = value.node->name + (axes == kToLast ? "_to_last" : "_to_first");
    made_[result.node.get()] = {result.node, 2 * bytes_of(type(entry))};
    return result;
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  std::unordered_map<int, ir::Entry> last_;  // turned values, by entries
  struct Transposition {
    Ref<ir::Node> node;
    int64_t bytes;  // read and written
  };
  std::unordered_map<const ir::Node*, Transposition> made_;
  int64_t by_library_ = 0;
};

}  // namespace

bool wants_channels_last(DType dtype, int64_t image_channels, int64_t map_channels) {
  constexpr int64_t kPack = 8;
  return (dtype == DType::kFloat16 || dtype == DType::kBFloat16) && image_channels % kPack == 0 &&
         map_channels % kPack == 0;
}

ir::Graph with_channels_last(const IndexedGraph& graph, const std::vector<ArrayType>& types) {
  Turning turning(graph, types);
  ir::Graph result =
      rewrite(graph.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
        return turning.replace(original, *node);
      });
  return turning.bytes_in(result).pays() ? result : graph.graph();
}

}  // namespace mxnet
