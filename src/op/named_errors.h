// SPDX-License-Identifier: Apache-2.0
// Errors of operators name their operator: whatever a rule, a kernel or what they call throws
// passes here on its way to the caller, so that their own texts need no prefix.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "ir/node.h"
#include "op/op_def.h"

namespace mxnet {

// How errors name a node of a graph: NAME(OPERATOR), with "null" for a variable's, as in files.
std::string title_of(const ir::Node& node);

// In a catch block: throws what is caught again, told by `op` under `name`, its own or that of its
// node. Somebody else whom it names already (an operator or a node within this one, a device
// without memory) stays in the text, and what `after_text` says of the circumstances is added to
// it. What the engine complains of, such as a wait that was broken off, is nothing that the
// operator did and passes as it is.
[[noreturn]] void rethrow_told_by(const OpDef& op, std::string_view name,
                                  const std::function<std::string()>& after_text = nullptr);

// fn(), a step of `op`.
template <class F>
decltype(auto) told_by(const OpDef& op, const F& fn) {
  try {
    return fn();
  } catch (...) {
    rethrow_told_by(op, op.name());
  }
}

}  // namespace mxnet
