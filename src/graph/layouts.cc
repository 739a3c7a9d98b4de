// SPDX-License-Identifier: Apache-2.0
// One walk in the order of execution.
#include "graph/layouts.h"

#include "base/leaked.h"
#include "graph/casts.h"
#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "op/fused/pointwise_in_layout.h"
#include "op/fused/reorder.h"
#include "op/op_def.h"
#include "op/params/parsed_attrs.h"
#include "op/pointwise.h"

namespace mxnet {
namespace {

class Layouts {
 public:
  Layouts(const IndexedGraph& graph, const std::vector<ArrayType>& types,
          const LayoutOptions& options)
      : graph_(graph),
        types_(types),
        options_(options),
        versions_(static_cast<std::size_t>(graph.num_entries())) {}

  LaidOutGraph run() {
    for (int n = 0; n < graph_.num_nodes(); ++n) place(n);
    for (int entry : graph_.outputs()) result_.graph.outputs.push_back(in_layout(entry, nullptr));
    return std::move(result_);
  }

 private:
  // One value as it lies somewhere; the first version is as it was computed.
  struct Version {
    LayoutRef layout;
    ir::Entry entry;
  };
  std::vector<Version>& versions(int entry) { return versions_[static_cast<std::size_t>(entry)]; }
  Tensor tensor(int entry) const {
    const ArrayType& type = types_[static_cast<std::size_t>(entry)];
    return {nullptr, &type.shape, type.dtype};
  }

  void place(int n) {
    Ref<ir::Node> node(const_cast<ir::Node*>(&graph_.node(n)));  // shared, as everywhere in graphs
    PreparedKernelRef kernel;
    LayoutRef through;
    if (!node->is_variable()) {
      const bool plain = is_wide(n);
      through = options_.differentiated && !plain ? passed_through(n) : nullptr;
      if (through != nullptr && is_padded(n, through)) {
        const DType dtype = types_[static_cast<std::size_t>(graph_.first_entry(n))].dtype;
        kernel = prepare_pointwise_in_layout(*node->op, node->params,
                                             static_cast<int>(node->inputs.size()), dtype, through);
        through = nullptr;
      }
      if (through == nullptr && kernel == nullptr && !plain) kernel = prepare(n);
      std::vector<ir::Entry> inputs;
      const std::span<const int> entries = graph_.inputs(n);
      inputs.reserve(entries.size());
      for (std::size_t i = 0; i < entries.size(); ++i) {
        // A value that is never read may lie as it likes.
        inputs.push_back(node->op->type_only(static_cast<int>(i))
                             ? versions(entries[i]).front().entry
                             : in_layout(entries[i], kernel ? kernel->in()[i] : through));
      }
      if (inputs != node->inputs || !node->control_deps().empty()) {
        node = copy_node(*node);
        node->inputs = std::move(inputs);
        renew_control_deps(node.get(), [&](const Ref<ir::Node>& dep) {
          return versions(graph_.first_entry(graph_.index_of(*dep))).front().entry.node;
        });
      }
      if (kernel) result_.kernels[node.get()] = kernel;
    }
    for (int o = 0; o < graph_.num_outputs(n); ++o)
      versions(graph_.first_entry(n) +
               o) = {{kernel ? kernel->out()[static_cast<std::size_t>(o)] : through, {node, o, 0}}};
  }

  bool is_wide(int n) const {
    const auto wide = [&](int entry) {
      const Tensor value = tensor(entry);
      return static_cast<std::size_t>(value.size()) * dtype_size(value.dtype) > options_.widest;
    };
    const std::span<const int> inputs = graph_.inputs(n);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!graph_.node(n).op->type_only(static_cast<int>(i)) && wide(inputs[i])) return true;
    for (int o = 0; o < graph_.num_outputs(n); ++o)
      if (wide(graph_.first_entry(n) + o)) return true;
    return false;
  }

  // The layout that a pointwise operator takes its arrays in and leaves its result in: it does not
  // look where an element lies as long as all arrays agree. None where they are plain rows.
  LayoutRef passed_through(int n) {
    const ir::Node& node = graph_.node(n);
    if (pointwise_kernel(*node.op) == nullptr || graph_.num_outputs(n) != 1) return nullptr;
    const ArrayType& out = types_[static_cast<std::size_t>(graph_.first_entry(n))];
    LayoutRef found;
    for (int entry : graph_.inputs(n)) {
      const ArrayType& type = types_[static_cast<std::size_t>(entry)];
      if (type.shape != out.shape || type.dtype != out.dtype) return nullptr;
      if (found == nullptr) found = versions(entry).front().layout;
    }
    return found;
  }
  // Layouts of training hold their arrays in the arrays' own types.
  bool is_padded(int n, const LayoutRef& layout) const {
    const Tensor out = tensor(graph_.first_entry(n));
    return layout->bytes() > static_cast<std::size_t>(out.size()) * dtype_size(out.dtype);
  }

  PreparedKernelRef prepare(int n) {
    const ir::Node& node = graph_.node(n);
    const PrepareFn prepare = prepared_kernel_of(*node.op);
    if (prepare == nullptr || graph_.inputs(n).empty()) return nullptr;
    std::vector<Tensor> in, out;
    std::vector<LayoutRef> layouts;
    for (int entry : graph_.inputs(n)) {
      in.push_back(tensor(entry));
      layouts.push_back(versions(entry).front().layout);
    }
    for (int o = 0; o < graph_.num_outputs(n); ++o)
      out.push_back(tensor(graph_.first_entry(n) + o));
    return prepare(*node.op, node.params.get(), {in, out, options_.training}, layouts);
  }

  ir::Entry in_layout(int entry, const LayoutRef& wanted) {
    for (const Version& version : versions(entry))
      if (same_layout(version.layout, wanted)) return version.entry;
    const Version from = versions(entry).front();
    if (Ref<ir::Node> converted = converted_to(entry, from, wanted))
      return remember(entry, wanted, {std::move(converted), 0, 0});
    static const OpDef& op = Registry::get().at(kReorderOp);
    static Leaked<ParamsPtr> params(op.parse({}));
    auto node = make_ref<ir::Node>();
    node->op = &op;
    node->params = *params;
    node->name = from.entry.node->name + "_reorder";
    node->inputs = {from.entry};
    result_.kernels[node.get()] = prepare_reorder(tensor(entry), from.layout, wanted);
    return remember(entry, wanted, {node, 0, 0});
  }

  const ir::Entry& remember(int entry, const LayoutRef& layout, ir::Entry version) {
    versions(entry).push_back({layout, std::move(version)});
    return versions(entry).back().entry;
  }

  // What a conversion of rows makes, made once more in a layout; nothing where that takes two steps
  // anyway. Whoever wants another layout converts for himself: what is converted in rows would be
  // kept for all of them, from the way forward to the last of its gradients.
  Ref<ir::Node> converted_to(int entry, const Version& from, const LayoutRef& wanted) {
    const ir::Node& original = graph_.node(graph_.node_of(entry));
    if (from.layout != nullptr || original.is_variable() || !is_cast(original) ||
        types_[static_cast<std::size_t>(entry)].dtype != DType::kFloat32)
      return {};
    PreparedKernelRef kernel = prepare_widening(tensor(graph_.entry(original.inputs[0])), wanted);
    if (kernel == nullptr) return {};
    Ref<ir::Node> node = copy_node(*from.entry.node);
    node->name += "_reorder";
    result_.kernels[node.get()] = std::move(kernel);
    return node;
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const LayoutOptions options_;
  std::vector<std::vector<Version>> versions_;  // per entry
  LaidOutGraph result_;
};

}  // namespace

LaidOutGraph lay_out(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                     const LayoutOptions& options) {
  return Layouts(graph, types, options).run();
}

}  // namespace mxnet
