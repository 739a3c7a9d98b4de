// SPDX-License-Identifier: Apache-2.0
// One kernel call for each node that is folded, on the thread that compiles.
#include "exec/fold_values.h"

#include <optional>
#include <span>

#include "base/error.h"
#include "exec/plan_scratch.h"
#include "exec/run_kernel.h"
#include "graph/fold.h"
#include "op/inline_vector.h"

namespace mxnet {
namespace {

std::vector<NDArray> run_on_cpu(const ir::Node& node, std::span<const NDArray> inputs,
                                std::span<const ArrayType> in_types,
                                std::span<const ArrayType> out_types) {
  const Device cpu = Device::cpu();
  const KernelEntry& kernel = choose_kernel(*node.op, node.params.get(), in_types, out_types, cpu,
                                            /*training=*/false);
  InlineVector<Tensor, 8> in, out;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    in.push_back(
        {inputs[i].is_none() ? nullptr : inputs[i].data(), &in_types[i].shape, in_types[i].dtype});
  std::vector<NDArray> results;
  for (const ArrayType& type : out_types) {
    results.emplace_back(type.shape, type.dtype, cpu, "constants");
    out.push_back({results.back().data(), &type.shape, type.dtype});
  }
  PlanScratch scratch(cpu);
  KernelContext context(in.span(), out.span(), cpu, /*stream=*/nullptr, /*training=*/false,
                        scratch);
  kernel.run(node.params.get(), context);
  return results;
}

NDArray on_device(const NDArray& value, Device device) {
  if (!device.is_gpu()) return value;
  NDArray copy(value.shape(), value.dtype(), device, "constants");
  value.copy_to(copy);
  copy.wait_to_read();
  return copy;
}

}  // namespace

ir::Graph fold_graph(const IndexedGraph& graph, const std::vector<ArrayType>& types, Device device,
                     FoldOptions options) {
  options.evaluate =
      [](const ir::Node& node, std::span<const NDArray> inputs, std::span<const ArrayType> in_types,
         std::span<const ArrayType> out_types) -> std::optional<std::vector<NDArray>> {
    try {
      return run_on_cpu(node, inputs, in_types, out_types);
    } catch (const Error&) {
      return std::nullopt;  // a run meets the same error, and names the node
    }
  };
  options.place = [device](const NDArray& value) { return on_device(value, device); };
  return fold_constants(graph, types, options);
}

}  // namespace mxnet
