// SPDX-License-Identifier: Apache-2.0
// Sums of diagonals.
#include <fmt/format.h>

#include "base/error.h"
#include "op/run/primitives.h"
#include "op/shape/adjoint.h"
#include "op/shape/diagonal_plan.h"
#include "op/shape/sum_strided.h"

namespace mxnet {
namespace {

struct TraceParams {
  int32_t offset, axis1, axis2;
};

DiagonalPlace place_of(const TraceParams& params, int ndim) {
  const DiagonalPlace place{normalize_axis(params.axis1, ndim, "_np_trace"),
                            normalize_axis(params.axis2, ndim, "_np_trace"), params.offset};
  if (place.axis1 == place.axis2)
    throw Error(ErrorCode::kValue, "_np_trace",
                fmt::format("given axis1 {} and axis2 {}, expected two dimensions", params.axis1,
                            params.axis2));
  return place;
}

void declare(OpBuilder<TraceParams>& op) {
  op.param("offset", &TraceParams::offset, 0, "Which diagonal: 0 the main one, above it positive.");
  op.param("axis1", &TraceParams::axis1, 0, "Rows of the matrices.");
  op.param("axis2", &TraceParams::axis2, 1, "Columns of the matrices.");
}

void infer_trace(const TraceParams& params, Infer& infer) {
  InferArg in = infer.in(0);
  in.same_dtype(infer.out(0));
  if (!in.rank_known()) return;
  if (in.ndim() < 2) in.fail("at least 2 dimensions");
  const DiagonalPlace place = place_of(params, in.ndim());
  Shape out = Shape::scalar();
  for (int i = 0; i < in.ndim(); ++i)
    if (i != place.axis1 && i != place.axis2) out.push_back(in.dim(i));
  infer.out(0).set_shape(out);
}

void trace_cpu(const TraceParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const StridedPlan plan = place_of(params, in.ndim()).plan(in.shape(), true);
  sum_strided(plan.reversed(), in, context.out(0), context);
}

void spread_cpu(const TraceParams& params, KernelContext& context) {
  const Tensor& dx = context.out(0);
  const std::size_t element = dtype_size(dx.dtype);
  clear_memory(context, dx.data, static_cast<std::size_t>(dx.size()) * element);
  const StridedPlan plan = place_of(params, dx.ndim()).plan(dx.shape(), true);
  copy_strided(context, plan.reversed(), context.in(0).data, dx.data, element);
}

[[maybe_unused]] const OpBuilder<TraceParams> defined =
    define_linear<TraceParams>({.name = "_np_trace",
                                .doc = "Sums of the diagonals of an array.",
                                .declare = declare,
                                .infer = infer_trace,
                                .forward = trace_cpu,
                                .backward = spread_cpu,
                                .forward_types = kNumeric});
[[maybe_unused]] const bool portable = mark_portable({"_np_trace", "_backward__np_trace"});

}  // namespace
}  // namespace mxnet
