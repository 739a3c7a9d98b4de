// SPDX-License-Identifier: Apache-2.0
// The reverse of broadcasting: sums an array to the shape of another, for gradients. Theirs spread
// it again.
#include "op/op_builder.h"
#include "op/reduce/spread.h"
#include "op/reducing/evaluate.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

// Axes along which `shape` is spread over `full`.
AxisSet spread_axes(const Shape& full, const Shape& shape) {
  AxisSet axes = 0;
  const int extra = full.ndim() - shape.ndim();
  for (int i = 0; i < full.ndim(); ++i) {
    if (i < extra || shape[i - extra] != full[i]) axes |= AxisSet{1} << i;
  }
  return axes;
}

void sum_to_like_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  if (in.size() == out.size()) {
    const std::size_t bytes = static_cast<std::size_t>(in.size()) * dtype_size(in.dtype);
    return copy_memory(context, in.data, out.data, bytes);
  }
  reduce_to({Reduction::sum}, in, spread_axes(in.shape(), out.shape()), out, context);
}

void spread_like_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  if (in.size() == out.size())
    return copy_memory(context, in.data, out.data,
                       static_cast<std::size_t>(in.size()) * dtype_size(in.dtype));
  spread(Spread::sum, in, nullptr, nullptr, spread_axes(out.shape(), in.shape()), out, context);
}

// Inputs: the array, and the one whose shape the result has; `full` is the one that `other` would
// be broadcast to.
template <int full, int other>
void infer_like(const NoParams&, Infer& infer) {
  infer.out(0).same_shape(infer.in(1));
  infer.in(0).same_dtype(infer.out(0));
  const InferArg wide = infer.in(full), narrow = infer.in(other);
  if (!wide.known() || !narrow.known() || wide.shape().size() == narrow.shape().size()) return;
  const Shape& shape = narrow.shape();
  const int extra = wide.shape().ndim() - shape.ndim();
  bool fits = extra >= 0;
  for (int i = 0; fits && i < shape.ndim(); ++i)
    fits = shape[i] == 1 || shape[i] == wide.shape()[i + extra];
  if (!fits) narrow.fail("a shape that is broadcast to " + to_string(wide.shape()));
}

MX_OP(_sum_to_like, NoParams)
.doc("Sums `data` over the dimensions along which `like` would be broadcast to it.")
    .input("data", "The array.")
    .input("like", "Its shape is that of the result.")
    .type_only(1)
    .dtypes(kNumeric)
    .infer(infer_like<0, 1>)
    .cpu(sum_to_like_cpu)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{apply("_backward_sum_to_like", {grad.dout(0), grad.in(0)}), Value()};
    });

MX_OP(_backward_sum_to_like, NoParams)
.doc("Gradient of _sum_to_like.")
    .input("dout", "Gradient of the sums.")
    .input("data", "The array that was summed; only its shape matters.")
    .type_only(1)
    .dtypes(kNumeric)
    .infer(infer_like<1, 0>)
    .cpu(spread_like_cpu)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{apply("_sum_to_like", {grad.dout(0), grad.in(0)}), Value()};
    });

[[maybe_unused]] const bool portable = mark_portable({"_sum_to_like", "_backward_sum_to_like"});

}  // namespace
}  // namespace mxnet
