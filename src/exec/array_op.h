// SPDX-License-Identifier: Apache-2.0
// Operators whose bodies work on arrays, not on tensors inside one engine operation: control flow,
// and functions of the user. A graph that holds one runs node by node.
#pragma once
#include <memory>

#include "exec/invoke.h"
#include "op/params/parsed_attrs.h"

namespace mxnet {

// What a node of a bound graph keeps from run to run; empty before the first.
using NodeState = std::shared_ptr<void>;

struct ArrayOp {
  // Runs on the caller's thread under its autograd switches, and sees to the tape itself. Inputs
  // are handles with their tape; outputs that are none are made. `device`: for calls without
  // inputs. `state`: the node's; null where nothing is kept, and each call stands for itself.
  void (*run)(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs, OutputRefs outputs,
              Device device, NodeState* state);
  // Parameters hold a state: each graph that is bound parses its own.
  bool has_state = false;
};

// Call before the operator is used, thread-safe. The operator must say shape_from_values(): only
// such are looked up.
bool add_array_op(const char* op, ArrayOp entry);
// Null for all other operators.
const ArrayOp* find_array_op(const OpDef& op);

// The end of a run: a result becomes the output, or is copied into it where one is given. Throws
// Error(kValue) if that has another shape or type.
void deliver_result(const OpDef& op, std::size_t index, NDArray result, NDArray* output);

}  // namespace mxnet
