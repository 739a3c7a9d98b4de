// SPDX-License-Identifier: Apache-2.0
// Elements moved along dimensions, what leaves at one end coming in at the other.
#include <fmt/format.h>

#include "base/error.h"
#include "op/op_builder.h"
#include "op/run/primitives.h"
#include "op/shape/axes.h"

namespace mxnet {
namespace {

struct RollParams {
  std::optional<Shape> shift, axis;
};

// Without axes the array is rolled as one row.
Axes rolled_axes(const RollParams& params, int ndim) {
  if (!params.shift || !params.shift->rank_known() || params.shift->ndim() == 0)
    throw Error(ErrorCode::kValue, "_np_roll", "given no shift, expected one");
  Axes axes;
  if (params.axis) axes = Axes(*params.axis, ndim, "_np_roll");
  const int wanted = params.axis ? axes.size() : 1;
  if (params.shift->ndim() != 1 && params.shift->ndim() != wanted) {
    throw Error(ErrorCode::kValue, "_np_roll",
                fmt::format("given shift {} for {} axes, expected a number or one for each axis",
                            to_string(*params.shift), wanted));
  }
  return axes;
}

void roll_cpu(const RollParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  const Shape row{in.size()};
  const Shape& shape = params.axis ? in.shape() : row;
  const Axes axes = params.axis ? rolled_axes(params, in.ndim()) : Axes::identity(1);
  // How far each dimension moves, in [0, size).
  std::array<int64_t, Shape::kMaxDims> moves{};
  std::array<int, Shape::kMaxDims> moving{};
  int num_moving = 0;
  for (int i = 0; i < axes.size(); ++i) {
    const int64_t size = shape[axes[i]];
    const int64_t shift = (*params.shift)[params.shift->ndim() == 1 ? 0 : i];
    const int64_t move = (shift % size + size) % size;
    moves[static_cast<std::size_t>(axes[i])] = move;
    if (move != 0) moving[static_cast<std::size_t>(num_moving++)] = axes[i];
  }
  // Each moving dimension has two parts: what stays in order, and what wraps around.
  const RowMajorSteps steps(shape);
  for (uint64_t parts = 0; parts < uint64_t{1} << num_moving; ++parts) {
    StridedPlan plan;
    uint64_t part = parts;
    for (int i = 0, m = 0; i < shape.ndim(); ++i) {
      const bool moved = m < num_moving && moves[static_cast<std::size_t>(i)] != 0;
      const int64_t move = moves[static_cast<std::size_t>(i)];
      const bool wraps = moved && (part & 1) != 0;
      if (moved) {
        part >>= 1;
        ++m;
      }
      plan.add(wraps ? move : shape[i] - move, steps[i], steps[i]);
      if (wraps) {
        plan.in_offset += (shape[i] - move) * steps[i];
      } else {
        plan.out_offset += move * steps[i];
      }
    }
    copy_strided(context, plan, in.data, context.out(0).data, dtype_size(in.dtype));
  }
}

MX_OP(_np_roll, RollParams)
.doc("The array with its elements moved along dimensions; what leaves comes in at the other end.")
    .input("data", "The array.")
    .param("shift", &RollParams::shift, std::nullopt, "How far: one number, or one for each axis.")
    .param("axis", &RollParams::axis, std::nullopt, "The dimensions; the array as one row if None.")
    .infer([](const RollParams& p, Infer& infer) {
      infer.in(0).same_as(infer.out(0));
      if (infer.in(0).rank_known()) rolled_axes(p, infer.in(0).ndim());
    })
    .cpu(roll_cpu)
    .grad([](const RollParams& p, Grad& grad) {
      Shape shift = *p.shift;
      for (int i = 0; i < shift.ndim(); ++i) shift[i] = -shift[i];
      return Gradients{apply("_np_roll", {grad.dout(0)},
                             {{"shift", ParamText<Shape>::print(shift)},
                              {"axis", ParamText<std::optional<Shape>>::print(p.axis)}})};
    });

[[maybe_unused]] const bool portable = mark_portable({"_np_roll"});

}  // namespace
}  // namespace mxnet
