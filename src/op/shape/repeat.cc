// SPDX-License-Identifier: Apache-2.0
// Each element repeated along a dimension.
#include <fmt/format.h>

#include "op/length.h"
#include "op/shape/adjoint.h"
#include "op/shape/sum_strided.h"

namespace mxnet {
namespace {

struct RepeatParams {
  int32_t repeats;
  std::optional<int32_t> axis;
};

void infer_repeat(const RepeatParams& params, Infer& infer) {
  InferArg in = infer.in(0);
  in.same_dtype(infer.out(0));
  if (params.repeats < 0)
    infer.fail(fmt::format("given repeats {}, expected at least 0", params.repeats));
  if (!in.rank_known() || (!params.axis && !in.known())) return;
  if (!params.axis) {
    infer.out(0).set_shape({in.shape().size() * params.repeats});
    return;
  }
  Shape out = in.shape();
  int64_t& repeated = out[infer.axis(*params.axis, in)];
  repeated = length::times(repeated, params.repeats);
  infer.out(0).set_shape(out);
}

StridedPlan repeat_plan(const RepeatParams& params, const Shape& in, const Shape&) {
  const int axis = params.axis ? normalize_axis(*params.axis, in.ndim(), "repeat") : in.ndim() - 1;
  const int64_t inner = in.size(axis + 1, in.ndim()), count = params.repeats;
  StridedPlan plan;
  plan.add(in.size(0, axis + 1), inner, inner * count);
  plan.add(count, 0, inner);
  plan.add(inner, 1, 1);
  return plan;
}

void declare(OpBuilder<RepeatParams>& op) {
  op.param("repeats", &RepeatParams::repeats, "How often.");
  op.param("axis", &RepeatParams::axis, std::nullopt,
           "The dimension; the array as one row if None.");
}

using Repeats = Repeated<RepeatParams, repeat_plan>;

[[maybe_unused]] const OpBuilder<RepeatParams> defined =
    define_linear<RepeatParams>({.name = "repeat",
                                 .doc = "The array with each element repeated.",
                                 .declare = declare,
                                 .infer = infer_repeat,
                                 .forward = Repeats::copy,
                                 .backward = Repeats::sum,
                                 .backward_types = kNumeric})
        .alias("_np_repeat");

[[maybe_unused]] const bool portable = mark_portable({"repeat", "_backward_repeat"});

}  // namespace
}  // namespace mxnet
