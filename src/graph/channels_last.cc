// SPDX-License-Identifier: Apache-2.0
// One walk: a convolution turns what it reads, others follow what they read. Every turned value is
// turned back as well; what nobody reads of that is no part of the graph.
#include "graph/channels_last.h"

#include <memory>
#include <optional>
#include <unordered_map>

#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "op/fused/conv.h"
#include "op/grad.h"
#include "op/nn/trilinear_grad.h"
#include "op/op_def.h"
#include "op/params/batch_norm_params.h"
#include "op/params/dense_and_sparse.h"
#include "op/pointwise.h"
#include "op/windows/pooling_geometry.h"

namespace mxnet {
namespace {

constexpr const char *kToLast = "(0,2,3,1)", *kToFirst = "(0,3,1,2)";

// A node that reads and makes turned images; weights of convolutions lie as images do.
struct Turned {
  std::shared_ptr<const void> params;
  uint32_t inputs, outputs = 1;  // bits of those that are turned
};

bool is_half(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

constexpr auto to_nhwc = [](auto& params) { params.layout = Layout::kNHWC; };

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
      if ((turned->inputs >> i & 1) != 0)
        copy->inputs[i] = to_last(graph_.entry(original.inputs[i]), node.inputs[i]);
    const int n = graph_.index_of(original);
    std::vector<ir::Entry> outputs;
    for (int o = 0; o < graph_.num_outputs(n); ++o) {
      const int result = graph_.first_entry(n) + o;
      outputs.push_back({copy, o, 0});
      if ((turned->outputs >> o & 1) == 0) continue;
      last_[result] = outputs.back();
      outputs.back() = transposed(outputs.back(), result, kToFirst);
    }
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
  const ArrayType& result_type(const ir::Node& node) const {
    return type(graph_.first_entry(graph_.index_of(node)));
  }
  // Read and written.
  static int64_t turned_bytes(const ArrayType& type) {
    return 2 * type.shape.size() * static_cast<int64_t>(dtype_size(type.dtype));
  }
  bool is_image(const ir::Entry& entry) const { return type(entry).shape.ndim() == 4; }
  static const ir::Entry& input(const ir::Node& node, int i) {
    return node.inputs[static_cast<std::size_t>(i)];
  }
  bool is_turned(const ir::Entry& entry) const { return last_.count(graph_.entry(entry)) != 0; }

  std::optional<Turned> turned_form(const ir::Node& node) {
    if (node.is_variable() || !node.control_deps().empty() || node.inputs.empty() ||
        !is_image(node.inputs[0]))
      return std::nullopt;
    const std::string& op = node.op->name();
    if (op == FusedConvParams::kOnGpu) return fused_convolution(node);
    if (op == "Convolution") return convolution(node);
    if (op == "_backward_Convolution" || op == "_backward_Convolution_data")
      return convolution_gradient(node);
    if (op == "Concat") return concatenation(node);
    if (pointwise_kernel(*node.op) != nullptr) return pointwise(node);
    // Gradients follow what forward has read.
    if (op == "Pooling") return pooling(node, 0);
    if (op == "_backward_Pooling_sum" || op == "_backward_Pooling_max") return pooling(node, 1);
    if (op == "BatchNorm") return normalisation(node, 0);
    if (op == "_backward_BatchNorm") return normalisation(node, 1);
    return std::nullopt;
  }
  template <class P>
  static const P& params_of(const ir::Node& node) {
    return *static_cast<const P*>(node.params.get());
  }

  // What cuDNN would turn for so many passes of a convolution.
  void count(const ConvParams& params, std::initializer_list<const ArrayType*> arrays,
             int passes = 1) {
    const ArrayType& image = **arrays.begin();
    if (!wants_channels_last(image.dtype, image.shape[1] / params.num_group,
                             params.num_filter / params.num_group))
      return;
    for (const ArrayType* array : arrays) by_library_ += passes * turned_bytes(*array);
  }
  static bool may_turn(const ConvParams& params, const ArrayType& image) {
    return params.spatial() == 2 && !channels_last(params.layout) && is_half(image.dtype);
  }
  std::optional<Turned> convolution(const ir::Node& node) {
    const auto& params = params_of<ConvParams>(node);
    if (!may_turn(params, type(node.inputs[0]))) return std::nullopt;
    count(params, {&type(node.inputs[0]), &type(node.inputs[1]), &result_type(node)});
    return Turned{changed<ConvParams>(node, to_nhwc), 0b11};
  }
  // Inputs: gradient of the output, data, weight. Outputs: those wanted of data's, weight's,
  // bias's.
  std::optional<Turned> convolution_gradient(const ir::Node& node) {
    const auto& params = params_of<ConvParams>(node);
    if (!may_turn(params, type(node.inputs[1]))) return std::nullopt;
    const int passes =
        __builtin_popcount(static_cast<uint32_t>(params.wanted & (kWantData | kWantWeight)));
    count(params, {&type(node.inputs[1]), &type(node.inputs[2]), &type(node.inputs[0])}, passes);
    return Turned{changed<ConvParams>(node, to_nhwc), 0b111, (1u << passes) - 1};
  }
  std::optional<Turned> fused_convolution(const ir::Node& node) {
    const auto& params = params_of<FusedConvParams>(node);
    if (!may_turn(params.conv, type(node.inputs[0]))) return std::nullopt;
    count(params.conv, {&type(node.inputs[0]), &result_type(node)});  // weights are turned anyway
    return Turned{changed<FusedConvParams>(node,
                                           [](FusedConvParams& p) {
                                             to_nhwc(p.conv);
                                             p.turns_weight = true;
                                           }),
                  params.sum ? 0b11u : 0b1u};
  }
  // The first inputs up to the one that forward has read, where that is turned.
  std::optional<Turned> pooling(const ir::Node& node, int data) const {
    if (!is_turned(input(node, data)) || channels_last(params_of<PoolParams>(node).layout))
      return std::nullopt;
    return Turned{changed<PoolParams>(node, to_nhwc), (2u << data) - 1};
  }
  std::optional<Turned> normalisation(const ir::Node& node, int data) const {
    if (!is_turned(input(node, data)) || params_of<BatchNormParams>(node).axis != 1)
      return std::nullopt;
    return Turned{changed<BatchNormParams>(node, [](BatchNormParams& p) { p.axis = 3; }),
                  (2u << data) - 1};
  }
  std::optional<Turned> concatenation(const ir::Node& node) {
    const int dim = params_of<JoinParams>(node).dim;
    if ((dim != 1 && dim != -3) || node.inputs.size() > 32) return std::nullopt;
    for (const ir::Entry& input : node.inputs)
      if (!is_turned(input)) return std::nullopt;
    return Turned{changed<JoinParams>(node, [](JoinParams& p) { p.dim = 3; }), ~0u};
  }
  // Where one array is turned the others are, too; one of a single element is read as it is.
  std::optional<Turned> pointwise(const ir::Node& node) {
    const int n = graph_.index_of(node);
    const Shape& shape = type(graph_.first_entry(n)).shape;
    if (graph_.num_outputs(n) != 1 || node.inputs.size() > 32) return std::nullopt;
    uint32_t images = 0;
    bool any = false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Shape& in = type(node.inputs[i]).shape;
      if (in == shape)
        images |= 1u << i;
      else if (in.size() != 1)
        return std::nullopt;
      any |= in == shape && is_turned(node.inputs[i]);
    }
    return any ? std::optional<Turned>({node.params, images}) : std::nullopt;
  }

  ir::Entry to_last(int entry, const ir::Entry& first) {
    const auto [at, is_new] = last_.try_emplace(entry);
    if (is_new) at->second = transposed(first, entry, kToLast);
    return at->second;
  }
  ir::Entry transposed(const ir::Entry& value, int entry, const char* axes) {
    ir::Entry result = apply("transpose", {Value(value)}, {{"axes", axes}}).entry();
    result.node->name = value.node->name + (axes == kToLast ? "_to_last" : "_to_first");
    made_[result.node.get()] = {result.node, turned_bytes(type(entry))};
    return result;
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  std::unordered_map<int, ir::Entry> last_;  // turned values, by entries
  struct Transposition {
    Ref<ir::Node> node;
    int64_t bytes;
  };
  std::unordered_map<const ir::Node*, Transposition> made_;
  int64_t by_library_ = 0;
};

}  // namespace

bool wants_channels_last(DType dtype, int64_t image_channels, int64_t map_channels) {
  constexpr int64_t kPack = 8;
  return is_half(dtype) && image_channels % kPack == 0 && map_channels % kPack == 0;
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
