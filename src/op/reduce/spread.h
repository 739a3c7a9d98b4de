// SPDX-License-Identifier: Apache-2.0
// The way back of reductions: a value of each output goes to the elements it was made of.
#pragma once
#include "op/grad.h"
#include "op/kernel.h"
#include "op/op_builder.h"
#include "op/params/spread_params.h"
#include "op/reduce/spread_rows.h"
#include "op/reducing/axes.h"

namespace mxnet {

// Refuses `small` unless it is what the axes leave of `large`. Whether reduced axes were kept makes
// no difference: sizes of one do not count.
void check_reduced(const AxisChoice& choice, InferArg small, InferArg large);

// dx (shape and type of the reduced array) from dy and y, which have one element an output. y and x
// may be null where the row does not use them. REQUIRES: all have the type of dx, from which that
// of a reduction's result may differ.
void spread(Spread row, const Tensor& dy, const Tensor* y, const Tensor* x, AxisSet axes,
            const Tensor& dx, KernelContext& context, int64_t ddof = 0);

Attrs spread_attrs(const AxisChoice& choice);
// Nodes that spread `value`, an output of a reduction of `data`.
Value spread_value(const AxisChoice& choice, const Value& value, const Value& data);
Value spread_mean(const AxisChoice& choice, const Value& value, const Value& data);
// dx by a fused row; for gradients that are not differentiated again.
Value spread_fused(const char* op, const AxisChoice& choice, const Value& dy, const Value& y,
                   const Value& x);

}  // namespace mxnet
