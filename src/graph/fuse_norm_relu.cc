// SPDX-License-Identifier: Apache-2.0
// First what belongs together is looked for from the gradients' side, then nodes are replaced.
#include "graph/fuse_norm_relu.h"

#include <unordered_map>

#include "graph/entry_uses.h"
#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "op/norm/activation_params.h"
#include "op/op_def.h"
#include "op/params/batch_norm_params.h"

namespace mxnet {
namespace {

constexpr const char* kForward = "_contrib_BatchNormWithReLU";
constexpr const char* kBackward = "_backward_contrib_BatchNormWithReLU";

class NormRelus {
 public:
  NormRelus(const IndexedGraph& graph, const std::vector<ArrayType>& types,
            std::span<const PreparedKernelRef> kernels)
      : graph_(graph), types_(types), kernels_(kernels), uses_(entry_uses(graph)) {
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
      add(*norm, *relu->second, *slope, back);
    }
  }

  LaidOutGraph replaced() const {
    LaidOutGraph result;
    result.graph =
        rewrite(graph_.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
          return replace(original, node, &result);
        });
    return result;
  }

 private:
  enum class Part : uint8_t { kNorm, kGradient, kGone };
  struct Change {
    Part part;
    PreparedKernelRef kernel;
  };

  static bool is(const ir::Node& node, const char* op) {
    return !node.is_variable() && node.op->name() == op && node.control_deps().empty();
  }
  static bool is_relu(const ir::Node& node, const char* op) {
    return is(node, op) &&
           static_cast<const ActivationParams*>(node.params.get())->act_type == ActivationRow::relu;
  }
  // By given statistics relu's zeros of NaN could not be told from others.
  static bool normalises(const ir::Entry& entry) {
    return entry.index == 0 && is(*entry.node, "BatchNorm") &&
           !static_cast<const BatchNormParams*>(entry.node->params.get())->use_global_stats;
  }
  bool is_only_use(const ir::Entry& entry) const {
    return uses_[static_cast<std::size_t>(graph_.entry(entry))] == 1;
  }
  const PreparedKernelRef& kernel(const ir::Node& node) const {
    return kernels_[static_cast<std::size_t>(graph_.index_of(node))];
  }
  Tensor tensor(int entry) const {
    const ArrayType& type = types_[static_cast<std::size_t>(entry)];
    return {nullptr, &type.shape, type.dtype};
  }

  // Both directions in the layouts that they have apart, or nothing. A relu that is read or written
  // in another layout than its neighbours has a step between them, and is not found.
  void add(const ir::Node& norm, const ir::Node& relu, const ir::Node& slope,
           const ir::Node& back) {
    if (kernels_.empty()) return change(norm, nullptr, relu, slope, back, nullptr);
    const PreparedKernelRef &apart = kernel(norm), &back_apart = kernel(back);
    if (apart == nullptr || back_apart == nullptr) return;
    Tensor mask = tensor(graph_.entry(norm.inputs[0]));
    mask.dtype = DType::kUInt8;
    PreparedKernelRef forward = prepared(kForward, norm, *apart, nullptr, &mask);
    if (forward == nullptr || !same_layout(forward->in()[0], apart->in()[0]) ||
        !same_layout(forward->out()[0], apart->out()[0]))
      return;
    PreparedKernelRef backward = prepared(kBackward, back, *back_apart, &mask, nullptr);
    if (backward == nullptr || !same_layout(backward->in()[0], back_apart->in()[0]) ||
        !same_layout(backward->in()[1], back_apart->in()[1]) ||
        !same_layout(backward->out()[0], back_apart->out()[0]))
      return;
    change(norm, std::move(forward), relu, slope, back, std::move(backward));
  }
  void change(const ir::Node& norm, PreparedKernelRef forward, const ir::Node& relu,
              const ir::Node& slope, const ir::Node& back, PreparedKernelRef backward) {
    changes_[&norm] = {Part::kNorm, std::move(forward)};
    changes_[&relu] = changes_[&slope] = {Part::kGone, nullptr};
    changes_[&back] = {Part::kGradient, std::move(backward)};
  }

  // The kernel of `op` in the place of a node, with a mask more among inputs or outputs.
  PreparedKernelRef prepared(const char* op, const ir::Node& node, const PreparedKernel& apart,
                             const Tensor* mask_in, const Tensor* mask_out) const {
    const OpDef& fused = Registry::get().at(op);
    const PrepareFn prepare = prepared_kernel_of(fused);
    if (prepare == nullptr) return nullptr;
    const int n = graph_.index_of(node);
    std::vector<Tensor> in, out;
    std::vector<LayoutRef> layouts(apart.in().begin(), apart.in().end());
    for (int entry : graph_.inputs(n)) in.push_back(tensor(entry));
    for (int o = 0; o < graph_.num_outputs(n); ++o)
      out.push_back(tensor(graph_.first_entry(n) + o));
    if (mask_in != nullptr) {
      in.push_back(*mask_in);
      layouts.emplace_back();
    }
    if (mask_out != nullptr) out.push_back(*mask_out);
    return prepare(fused, node.params.get(), {in, out, /*training=*/true}, layouts);
  }

  Replacement replace(const ir::Node& original, const Ref<ir::Node>& node,
                      LaidOutGraph* result) const {
    const auto at = changes_.find(&original);
    if (at == changes_.end()) {
      if (kernels_.empty()) return std::nullopt;
      if (const PreparedKernelRef& own = kernel(original)) result->kernels[node.get()] = own;
      return std::nullopt;
    }
    const auto& [part, prepared_one] = at->second;
    if (part == Part::kGone) return std::vector<ir::Entry>{node->inputs[0]};
    const bool forward = part == Part::kNorm;
    Ref<ir::Node> fused = copy_node(*node);
    fused->op = &Registry::get().at(forward ? kForward : kBackward);
    constexpr int kMask = 3;
    if (!forward) fused->inputs.push_back({node->inputs[3].node, kMask, 0});
    if (prepared_one != nullptr) result->kernels[fused.get()] = prepared_one;
    return std::vector<ir::Entry>{{fused, 0, 0}, {fused, 1, 0}, {fused, 2, 0}};
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const std::span<const PreparedKernelRef> kernels_;  // empty: nothing is prepared, all are taken
  const std::vector<int> uses_;
  std::unordered_map<const ir::Node*, Change> changes_;
};

}  // namespace

LaidOutGraph fuse_norm_relu(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                            std::span<const PreparedKernelRef> kernels) {
  return NormRelus(graph, types, kernels).replaced();
}

ir::Graph fuse_norm_relu_on_gpu(const IndexedGraph& graph, const std::vector<ArrayType>& types) {
  return NormRelus(graph, types, {}).replaced().graph;
}

}  // namespace mxnet
