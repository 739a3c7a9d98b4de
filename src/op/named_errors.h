// SPDX-License-Identifier: Apache-2.0
// Errors of operators name their operator: whatever a rule, a kernel or what they call throws
// passes here on its way to the caller, so that their own texts need no prefix.
#pragma once

namespace mxnet {

class OpDef;

// In a catch block: throws what is caught again, told by `op`. An operator within this one, or a
// device without memory, whom it names already, stays in the text.
[[noreturn]] void rethrow_told_by(const OpDef& op);

// fn(), a step of `op`.
template <class F>
decltype(auto) told_by(const OpDef& op, const F& fn) {
  try {
    return fn();
  } catch (...) {
    rethrow_told_by(op);
  }
}

}  // namespace mxnet
