// SPDX-License-Identifier: Apache-2.0
// Dimensions walked backwards, and turns by right angles, which are flips and swaps.
#include <fmt/format.h>

#include "base/error.h"
#include "op/op_builder.h"
#include "op/run/primitives.h"
#include "op/shape/axes.h"

namespace mxnet {
namespace {

struct FlipParams {
  Shape axis;
};

Axes flipped_axes(const FlipParams& params, int ndim, const char* tag) {
  if (!params.axis.rank_known()) return Axes::identity(ndim);  // None: all
  Axes axes;
  for (const int64_t axis : params.axis) {
    const int at = normalize_axis(axis, ndim, tag);
    if (!axes.contains(at)) axes.push_back(at);
  }
  return axes;
}

// Each operator's gradient is a call of itself.
template <bool kNumpy>
void define_flip() {
  static constexpr const char* kName = kNumpy ? "_npi_flip" : "reverse";
  OpBuilder<FlipParams> op(kName);
  if (!kNumpy) op.alias("flip");
  op.doc("The array with the order of its elements reversed along some dimensions.")
      .input("data", "The array.")
      .param("axis", &FlipParams::axis, "The dimensions.")
      .infer([](const FlipParams& p, Infer& infer) {
        infer.in(0).same_as(infer.out(0));
        if (infer.in(0).rank_known()) flipped_axes(p, infer.in(0).ndim(), kName);
      })
      .cpu([](const FlipParams& p, KernelContext& context) {
        const Tensor& in = context.in(0);
        copy_strided(context, flip_plan(in.shape(), flipped_axes(p, in.ndim(), kName)), in.data,
                     context.out(0).data, dtype_size(in.dtype));
      })
      .grad([](const FlipParams& p, Grad& grad) {
        return Gradients{
            apply("reverse", {grad.dout(0)}, {{"axis", ParamText<Shape>::print(p.axis)}})};
      });
}

[[maybe_unused]] const bool defined = [] {
  define_flip<false>();
  define_flip<true>();
  return true;
}();

struct Rot90Params {
  int32_t k;
  std::optional<Shape> axes;

  int quarters() const { return ((k % 4) + 4) % 4; }
};

Axes plane_of(const Rot90Params& params, int ndim) {
  if (!params.axes || params.axes->ndim() != 2) {
    throw Error(
        ErrorCode::kValue, "_npi_rot90",
        fmt::format("given axes {}, expected two", params.axes ? to_string(*params.axes) : "None"));
  }
  return Axes(*params.axes, ndim, "_npi_rot90");
}

StridedPlan rotation_plan(const Rot90Params& params, const Shape& in) {
  const Axes plane = plane_of(params, in.ndim());
  const int quarters = params.quarters();
  if (quarters % 2 == 0) return flip_plan(in, quarters == 0 ? Axes() : plane);
  const int a = plane[0], b = plane[1];
  Axes axes = Axes::identity(in.ndim());
  std::swap(axes[a], axes[b]);
  const RowMajorSteps in_steps(in), out_steps(permuted_shape(in, axes));
  // The first axis of the plane runs backwards through the second for one turn, and the other way
  // round for three.
  const int backwards = quarters == 1 ? b : a;
  StridedPlan plan;
  for (int i = 0; i < in.ndim(); ++i) {
    const int from = axes[i];
    const bool flipped = from == backwards && in[from] > 0;
    if (flipped) plan.in_offset = (in[from] - 1) * in_steps[from];
    plan.add(in[from], flipped ? -in_steps[from] : in_steps[from], out_steps[i]);
  }
  return plan;
}

MX_OP(_npi_rot90, Rot90Params)
.doc("The array turned by right angles in the plane of two dimensions.")
    .input("data", "The array.")
    .param("k", &Rot90Params::k, 1, "Number of quarter turns, from the first axis to the second.")
    .param("axes", &Rot90Params::axes, std::nullopt, "The two dimensions.")
    .infer([](const Rot90Params& p, Infer& infer) {
      infer.in(0).same_dtype(infer.out(0));
      if (!infer.in(0).rank_known()) return;
      const Axes plane = plane_of(p, infer.in(0).ndim());
      Axes axes = Axes::identity(infer.in(0).ndim());
      if (p.quarters() % 2 == 1) std::swap(axes[plane[0]], axes[plane[1]]);
      infer.out(0).set_shape(permuted_shape(infer.in(0).shape(), axes));
    })
    .cpu([](const Rot90Params& p, KernelContext& context) {
      const Tensor& in = context.in(0);
      copy_strided(context, rotation_plan(p, in.shape()), in.data, context.out(0).data,
                   dtype_size(in.dtype));
    })
    .grad([](const Rot90Params& p, Grad& grad) {
      return Gradients{apply(
          "_npi_rot90", {grad.dout(0)},
          {{"k", std::to_string(4 - p.quarters())}, {"axes", ParamText<Shape>::print(*p.axes)}})};
    });

[[maybe_unused]] const bool portable = mark_portable({"reverse", "_npi_flip", "_npi_rot90"});

}  // namespace
}  // namespace mxnet
