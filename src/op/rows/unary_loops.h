// SPDX-License-Identifier: Apache-2.0
// The compiled loops of the unary rows, one table for each instruction set.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "op/rows/unary_rows.h"

namespace mxnet {

enum class SlopeUses : uint8_t { kX, kY };

// Positions in the tables: the order of the rows.
enum class UnaryRow : int {
#define MX_ROW_ID(name, ...) name,
  MX_UNARY_ROWS(MX_ROW_ID) MX_UNARY_EXACT_ROWS(MX_ROW_ID)
#undef MX_ROW_ID
};

template <class T>
struct UnaryLoop {
  void (*value)(const T* x, T* y, int64_t n);
  // dx = dy * slope; `arg` is x or y, as the row says. Null for integers: gradients are floating.
  void (*slope)(const T* dy, const T* arg, T* dx, int64_t n);
};

// Null where integers are not computed in their own type.
template <class T>
UnaryLoop<T> unary_loop(UnaryRow row);

// Values of float16 or bfloat16 whose numbers stay in registers; null for rows that go through
// float, a block at a time.
template <class T>
using HalfLoop = void (*)(const T* x, T* y, int64_t n);
template <class T>
HalfLoop<T> unary_half_loop(UnaryRow row);

}  // namespace mxnet
