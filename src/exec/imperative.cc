// SPDX-License-Identifier: Apache-2.0
// Calls as users make them: checks, run, record.
#include "exec/imperative.h"

#include "exec/array_op.h"
#include "exec/autograd_state.h"
#include "exec/placement.h"
#include "exec/tape.h"
#include "op/device_crossing.h"
#include "op/inline_vector.h"

namespace mxnet {
namespace {

bool copies_across(const OpDef& op, std::span<NDArray* const> inputs, OutputRefs outputs) {
  return inputs.size() == 1 && outputs.size() == 1 && !inputs[0]->is_none() &&
         !outputs[0]->is_none() && on_two_devices(*inputs[0], *outputs[0]) && crosses_devices(op);
}

}  // namespace

void imperative_invoke(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs,
                       OutputRefs outputs, Device device, bool drops_hidden) {
  const OpDef& op = parsed->op();
  if (op.shape_from_values(parsed->params().get(), static_cast<int>(inputs.size()))) {
    if (const ArrayOp* body = find_array_op(op))
      return body->run(parsed, inputs, outputs, device, nullptr);
  }
  const AutogradState state = autograd_state();
  if (state.recording) check_outputs(parsed, inputs, outputs);
  if (copies_across(op, inputs, outputs)) return copy_across(*inputs[0], *outputs[0]);
  invoke(op, parsed->params(), InputRefs(inputs), outputs,
         {.training = state.training,
          .device = device,
          .hidden_unread = drops_hidden && !state.recording});
  if (state.recording) record(parsed, inputs, outputs, state.training);
}

std::vector<NDArray> call_op(std::string_view name, std::span<NDArray* const> inputs,
                             const Attrs& attrs) {
  const OpDef& op = Registry::get().at(name);
  InlineVector<std::pair<std::string_view, std::string_view>, 8> views;
  for (const auto& [key, text] : attrs) views.emplace_back(key, text);
  const ParsedAttrsRef parsed = parse_attrs(op, views.span());
  std::vector<NDArray> outputs(static_cast<std::size_t>(op.num_outputs(parsed->params().get())));
  InlineVector<NDArray*, 4> refs;
  for (NDArray& output : outputs) refs.push_back(&output);
  imperative_invoke(parsed, inputs, refs.span(), {}, /*drops_hidden=*/true);
  outputs.resize(static_cast<std::size_t>(op.num_visible_outputs(parsed->params().get())));
  return outputs;
}

}  // namespace mxnet
