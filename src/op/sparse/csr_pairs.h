// SPDX-License-Identifier: Apache-2.0
// Two csr matrices element by element.
#pragma once
#include <cstdint>

#include "op/sparse_context.h"

namespace mxnet {

// Which elements the result stores: those of either operand, or those that both have.
enum class Align : uint8_t { kAny, kBoth };

// Output 0 from inputs 0 and 1 by the operator's dense kernel, zeros where one has no element. The
// columns of a row may lie in any order, and elements of one column are added; those of the result
// ascend, each once.
// Nobody needs to have looked at the columns.
void combine_csr(SparseContext& context, Align align);

// Throws what require_safe_format() does for inputs 0 and 1.
void check_columns(const SparseContext& context);

}  // namespace mxnet
