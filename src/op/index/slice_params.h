// SPDX-License-Identifier: Apache-2.0
// begin, end and step, as slice and assignments to slices take them.
#pragma once
#include <optional>
#include <vector>

#include "op/index/slice_box.h"
#include "op/op_builder.h"
#include "op/params/dense_and_sparse.h"

namespace mxnet {

// Throws Error(kValue) for more positions than dimensions, lists of unequal length, a step of 0.
SliceBox slice_box(const SliceParams& params, const Shape& data);

inline void add_slice_params(OpBuilder<SliceParams>& op) {
  op.param("begin", &SliceParams::begin, "First positions; None and negative ones as in Python.")
      .param("end", &SliceParams::end, "Positions after the last.")
      .param("step", &SliceParams::step, std::vector<std::optional<int64_t>>{},
             "Steps, 1 where none is given.")
      .type_text("Shape(tuple), optional, default=[]");
}

}  // namespace mxnet
