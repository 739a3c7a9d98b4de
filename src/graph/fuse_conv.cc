// SPDX-License-Identifier: Apache-2.0
// One walk over the graph: a convolution grows node by node.
#include "graph/fuse_conv.h"

#include <memory>

#include "base/config.h"
#include "graph/growing_layers.h"
#include "graph/rewrite.h"
#include "op/fused/conv.h"
#include "op/op_def.h"
#include "op/params/batch_norm_params.h"

namespace mxnet {
namespace {

class Fuser {
 public:
  Fuser(const IndexedGraph& graph, const std::vector<ArrayType>& types, const FuseOptions& options)
      : layers_(graph, types, options.on_gpu ? &fused_conv_accepts_on_gpu : &fused_conv_accepts),
        options_(options) {}

  Replacement replace(const ir::Node& original, const Ref<ir::Node>& node) {
    if (original.is_variable() || !original.control_deps().empty()) return std::nullopt;
    const std::string& op = original.op->name();
    if (op == "Dropout") return without_dropout(original, *node);
    if (!options_.conv) return std::nullopt;
    if (op == "Convolution") return from_convolution(original, *node);
    if (op == "BatchNorm" && options_.batch_norm) return with_batch_norm(original, *node);
    if (options_.sum && adds_two(original)) return layers_.with_sum(original, *node);
    if (options_.activation) return layers_.with_activation(original, *node);
    return std::nullopt;
  }

 private:
  Replacement without_dropout(const ir::Node& original, const ir::Node& node) const {
    if (original.op->uses_random(original.params.get(), false) ||
        !layers_.only_first_output(original))
      return std::nullopt;
    return std::vector<ir::Entry>{node.inputs[0]};
  }

  Replacement from_convolution(const ir::Node& original, const ir::Node& node) {
    auto params = std::make_shared<FusedConvParams>();
    params->conv = *static_cast<const ConvParams*>(original.params.get());
    params->on_gpu = options_.on_gpu;
    return layers_.begin(original, node, std::move(params));
  }

  // Of the result; counted from the end where `like` is.
  static int channel_axis(const FusedConvParams& params, int like) {
    const int dims = params.conv.spatial() + 2;
    const int axis = channels_last(params.conv.layout) ? dims - 1 : 1;
    return like < 0 ? axis - dims : axis;
  }

  Replacement with_batch_norm(const ir::Node& original, const ir::Node& node) {
    const auto* conv = layers_.grown(original, node, 0);
    const auto& batch_norm = *static_cast<const BatchNormParams*>(original.params.get());
    if (conv == nullptr || batch_norm.axis != channel_axis(*conv->params, batch_norm.axis) ||
        !layers_.only_first_output(original) || conv->params->batch_norm ||
        !conv->params->post_ops.empty())
      return std::nullopt;
    auto more = *conv;
    auto params = std::make_shared<FusedConvParams>(*conv->params);
    params->batch_norm = true;
    params->fix_gamma = batch_norm.fix_gamma;
    params->eps = batch_norm.eps;
    for (std::size_t i = 1; i < 5; ++i) {
      more.inputs.push_back(node.inputs[i]);
      more.types.push_back(layers_.type(layers_.entry_of(original, i)));
    }
    return layers_.become(original, std::move(more), std::move(params));
  }

  GrowingLayers<FusedConvParams> layers_;
  const FuseOptions& options_;
};

}  // namespace

FuseOptions FuseOptions::configured() {
  const OnednnConfig& rows = config().onednn;
  return {!rows.disable_conv_opt, !rows.disable_fuse_conv_bn, !rows.disable_fuse_conv_relu,
          !rows.disable_fuse_conv_sum};
}

ir::Graph fuse_convolutions(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                            const FuseOptions& options) {
  Fuser fuser(graph, types, options);
  return rewrite(graph.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
    return fuser.replace(original, node);
  });
}

}  // namespace mxnet
