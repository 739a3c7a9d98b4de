// SPDX-License-Identifier: Apache-2.0
// One walk over the graph: a layer grows node by node.
#include "graph/fuse_dense.h"

#include <memory>

#include "base/config.h"
#include "graph/growing_layers.h"
#include "graph/rewrite.h"
#include "op/fused/dense.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

class Fuser {
 public:
  Fuser(const IndexedGraph& graph, const std::vector<ArrayType>& types,
        const FuseDenseOptions& options)
      : layers_(graph, types, options.on_gpu ? &fused_dense_accepts_on_gpu : &fused_dense_accepts),
        options_(options) {}

  Replacement replace(const ir::Node& original, const Ref<ir::Node>& node) {
    if (original.is_variable() || !original.control_deps().empty()) return std::nullopt;
    if (original.op->name() == "FullyConnected") return from_layer(original, *node);
    if (options_.sum && adds_two(original)) return layers_.with_sum(original, *node);
    if (options_.activation) return layers_.with_activation(original, *node);
    return std::nullopt;
  }

 private:
  Replacement from_layer(const ir::Node& original, const ir::Node& node) {
    auto params = std::make_shared<FusedDenseParams>();
    params->dense = *static_cast<const FullyConnectedParams*>(original.params.get());
    params->on_gpu = options_.on_gpu;
    return layers_.begin(original, node, std::move(params));
  }

  GrowingLayers<FusedDenseParams> layers_;
  const FuseDenseOptions& options_;
};

}  // namespace

FuseDenseOptions FuseDenseOptions::configured() {
  const OnednnConfig& rows = config().onednn;
  return {!rows.disable_fc_opt, !rows.disable_fuse_fc_eltwise, !rows.disable_fc_sum};
}

ir::Graph fuse_dense(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                     const FuseDenseOptions& options) {
  if (!options.dense) return graph.graph();
  Fuser fuser(graph, types, options);
  return rewrite(graph.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
    return fuser.replace(original, node);
  });
}

}  // namespace mxnet
