// SPDX-License-Identifier: Apache-2.0
// First what belongs together is looked for from the gradients' side, then nodes are replaced.
#include "graph/fuse_norm_relu.h"

#include <unordered_map>

#include "graph/entry_uses.h"
#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "op/norm/activation_params.h"
#include "op/norm/batch_norm_params.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// Channels that kernels in blocks take are a multiple of the largest block.
constexpr int64_t kBlock = 16;

class NormRelus {
 public:
  NormRelus(const IndexedGraph& graph, const std::vector<ArrayType>& types, bool on_gpu)
      : graph_(graph), types_(types), on_gpu_(on_gpu), uses_(entry_uses(graph)) {
    std::unordered_map<const ir::Node*, const ir::Node*> relu_of;  // per normalisation
    for (int n = 0; n < graph.num_nodes(); ++n) {
      const ir::Node& node = graph.node(n);
      if (is_relu(node, "Activation") && normalises(node.inputs[0]) && is_only_use(node.inputs[0]))
        relu_of[node.inputs[0].node.get()] = &node;
    }
    for (int n = 0; n < graph.num_nodes(); ++n) {
      const ir::Node& back = graph.node(n);
      if (!is(back, "_backward_BatchNorm")) continue;
      const ir::Node* slope = back.inputs[0].node.get();
      const ir::Node* norm = back.inputs[3].node.get();  // that the mean comes from
      const auto relu = relu_of.find(norm);
      if (relu == relu_of.end() || !is_relu(*slope, "_backward_Activation") ||
          !is_only_use(back.inputs[0]) || slope->inputs[1].node.get() != relu->second)
        continue;
      parts_[norm] = Part::kNorm;
      parts_[relu->second] = parts_[slope] = Part::kGone;
      parts_[&back] = Part::kGradient;
    }
  }

  Replacement replace(const ir::Node& original, const ir::Node& node) const {
    const auto part = parts_.find(&original);
    if (part == parts_.end()) return std::nullopt;
    if (part->second == Part::kGone) return std::vector<ir::Entry>{node.inputs[0]};
    const bool forward = part->second == Part::kNorm;
    Ref<ir::Node> fused = copy_node(node);
    fused->op = &Registry::get().at(forward ? "_contrib_BatchNormWithReLU"
                                            : "_backward_contrib_BatchNormWithReLU");
    constexpr int kMask = 3;
    if (!forward) fused->inputs.push_back({node.inputs[3].node, kMask, 0});
    return std::vector<ir::Entry>{{fused, 0, 0}, {fused, 1, 0}, {fused, 2, 0}};
  }

 private:
  enum class Part : uint8_t { kNorm, kGradient, kGone };

  static bool is(const ir::Node& node, const char* op) {
    return !node.is_variable() && node.op->name() == op && node.control_deps().empty();
  }
  static bool is_relu(const ir::Node& node, const char* op) {
    return is(node, op) &&
           static_cast<const ActivationParams*>(node.params.get())->act_type == ActivationRow::relu;
  }
  bool is_only_use(const ir::Entry& entry) const {
    return uses_[static_cast<std::size_t>(graph_.entry(entry))] == 1;
  }
  const ArrayType& type(const ir::Entry& entry) const {
    return types_[static_cast<std::size_t>(graph_.entry(entry))];
  }
  // Whether a convolution reads blocks, or an image of few channels. Masks of others would take a
  // byte an element.
  bool lies_in_blocks(const ir::Node& convolution) const {
    constexpr int64_t kFewChannels = 4;
    const Shape &image = type(convolution.inputs[0]).shape,
                &weight = type(convolution.inputs[1]).shape;
    const bool depthwise = weight[1] == 1 && weight[0] == image[1];
    return image.ndim() == 4 && (weight[1] == image[1] || depthwise) &&
           (image[1] % kBlock == 0 || (image[1] <= kFewChannels && !depthwise));
  }
  bool normalises(const ir::Entry& entry) const {
    const ir::Node& norm = *entry.node;
    if (on_gpu_) return entry.index == 0 && is(norm, "BatchNorm");
    if (entry.index != 0 || !is(norm, "BatchNorm") || !is(*norm.inputs[0].node, "Convolution"))
      return false;
    const auto& params = *static_cast<const BatchNormParams*>(norm.params.get());
    const ArrayType& data = type(norm.inputs[0]);
    return lies_in_blocks(*norm.inputs[0].node) && params.axis == 1 && !params.use_global_stats &&
           data.dtype == DType::kFloat32 && data.shape.ndim() == 4 && data.shape[1] % kBlock == 0;
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const bool on_gpu_;
  const std::vector<int> uses_;
  std::unordered_map<const ir::Node*, Part> parts_;
};

}  // namespace

ir::Graph fuse_norm_relu(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                         bool on_gpu) {
  const NormRelus found(graph, types, on_gpu);
  return rewrite(graph.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
    return found.replace(original, *node);
  });
}

}  // namespace mxnet
