// SPDX-License-Identifier: Apache-2.0
// Copies there, the call, copies back: all pushed, so that nobody waits here.
#include "exec/sparse_on_host.h"

#include <algorithm>

#include "op/inline_vector.h"

namespace mxnet {
namespace {

// A table of which only the shape is read stays where it is.
NDArray host_input(const OpDef& op, const NDArray& input, int i) {
  if (op.type_only(i) && !input.is_sparse())
    return NDArray(input.shape(), input.dtype(), Device::cpu());
  return input.detach().copy(Device::cpu());
}

// An array that is also an input stays one array.
NDArray host_output(const NDArray& output, InputRefs inputs, std::span<const NDArray> copies) {
  if (output.is_none()) return {};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]->chunk() == output.chunk() && inputs[i]->offset() == output.offset())
      return copies[i].detach();
  return output.copy(Device::cpu());
}

}  // namespace

void invoke_sparse_on_host(const OpDef& op, const ParamsPtr& params, InputRefs inputs,
                           OutputRefs outputs, Device device, const InvokeOptions& options) {
  InlineVector<NDArray, 8> arrays;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    arrays.push_back(host_input(op, *inputs[i], static_cast<int>(i)));
  for (const NDArray* output : outputs)
    arrays.push_back(host_output(*output, inputs, arrays.span().first(inputs.size())));
  InlineVector<NDArray*, 8> refs;
  for (NDArray& array : arrays) refs.push_back(&array);
  const std::span<NDArray*> all = refs.span();
  const std::span<NDArray*> in = all.first(inputs.size()), out = all.subspan(inputs.size());
  InvokeOptions on_host = options;
  on_host.device = Device::cpu();
  on_host.donated = 0;
  invoke(op, params, InputRefs(in), out, on_host);

  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o]->is_none())
      *outputs[o] = out[o]->copy(device);
    else
      out[o]->copy_to(*outputs[o], options.priority);
  }
  if (!op.mutates_inputs()) return;
  for (const int i : op.mutated_inputs(params.get())) {
    const auto at = static_cast<std::size_t>(i);
    in[at]->copy_to(*inputs[at], options.priority);
  }
}

}  // namespace mxnet
