// SPDX-License-Identifier: Apache-2.0
// The whole array repeated along its dimensions.
#include <fmt/format.h>

#include "op/shape/adjoint.h"
#include "op/shape/sum_strided.h"

namespace mxnet {
namespace {

struct TileParams {
  Shape reps;
};

int64_t repeats_of(const TileParams& params, int dim_from_last) {
  const int i = params.reps.ndim() - dim_from_last;
  return i < 0 ? 1 : params.reps[i];
}

void infer_tile(const TileParams& params, Infer& infer) {
  InferArg in = infer.in(0);
  in.same_dtype(infer.out(0));
  for (const int64_t count : params.reps) {
    if (count < 0)
      infer.fail(fmt::format("given reps {}, expected none below 0",
                             ParamText<Shape>::print(params.reps)));
  }
  if (!in.known()) return;
  Shape out(std::max(in.ndim(), params.reps.ndim()), 1);
  for (int back = 1; back <= out.ndim(); ++back) {
    const int64_t size = back <= in.ndim() ? in.dim(in.ndim() - back) : 1;
    out[out.ndim() - back] = size * repeats_of(params, back);
  }
  infer.out(0).set_shape(out);
}

// Each dimension of the result is two: which copy, and where in it.
StridedPlan tile_plan(const TileParams& params, const Shape& in, const Shape& out) {
  const RowMajorSteps in_steps(in), out_steps(out);
  StridedPlan plan;
  for (int i = 0; i < out.ndim(); ++i) {
    const int at = i - (out.ndim() - in.ndim());
    const int64_t size = at < 0 ? 1 : in[at];
    plan.add(repeats_of(params, out.ndim() - i), 0, size * out_steps[i]);
    plan.add(size, at < 0 ? 0 : in_steps[at], out_steps[i]);
  }
  return plan;
}

void declare(OpBuilder<TileParams>& op) {
  op.param("reps", &TileParams::reps, "How often, for each dimension from the last one back.");
}

using Tiled = Repeated<TileParams, tile_plan>;

[[maybe_unused]] const OpBuilder<TileParams> defined =
    define_linear<TileParams>({.name = "tile",
                               .doc = "The array repeated along its dimensions.",
                               .declare = declare,
                               .infer = infer_tile,
                               .forward = Tiled::copy,
                               .backward = Tiled::sum,
                               .backward_types = kNumeric})
        .alias("_npi_tile");

[[maybe_unused]] const bool portable = mark_portable({"tile", "_backward_tile"});

}  // namespace
}  // namespace mxnet
