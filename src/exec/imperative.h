// SPDX-License-Identifier: Apache-2.0
// An operator call as users make it: runs, and goes onto the tape while the thread records.
#pragma once
#include "exec/invoke.h"
#include "op/params/parsed_attrs.h"

namespace mxnet {

// As invoke(), under the thread's autograd switches. The arrays are the user's own handles: their
// tape entries change while recording. `drops_hidden`: the caller does not look at outputs that are
// not visible.
void imperative_invoke(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs,
                       OutputRefs outputs, Device device = {}, bool drops_hidden = false);

// The same for arrays by value; returns the visible outputs.
std::vector<NDArray> call_op(std::string_view op, std::span<NDArray* const> inputs,
                             const Attrs& attrs = {});

}  // namespace mxnet
