// SPDX-License-Identifier: Apache-2.0
// The reverse of broadcasting: sums an array to the shape of another, for gradients.
#include "op/op_builder.h"
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
  if (in.size() == out.size() && in.size() > 0) {
    const std::size_t bytes = static_cast<std::size_t>(in.size()) * dtype_size(in.dtype);
    return copy_memory(context, in.data, out.data, bytes);
  }
  reduce_to({Reduction::sum}, in, spread_axes(in.shape(), out.shape()), out, context);
}

void infer_like(const NoParams&, Infer& infer) {
  infer.out(0).same_shape(infer.in(1));
  infer.in(0).same_dtype(infer.out(0));
  const InferArg data = infer.in(0), like = infer.in(1);
  if (!data.known() || !like.known()) return;
  const Shape &full = data.shape(), &shape = like.shape();
  if (full.size() == shape.size()) return;
  const int extra = full.ndim() - shape.ndim();
  bool fits = extra >= 0;
  for (int i = 0; fits && i < shape.ndim(); ++i)
    fits = shape[i] == 1 || shape[i] == full[i + extra];
  if (!fits) like.fail("a shape that is broadcast to " + to_string(full));
}

MX_OP(_sum_to_like, NoParams)
.doc("Sums `data` over the dimensions along which `like` would be broadcast to it.")
    .input("data", "The array.")
    .input("like", "Its shape is that of the result.")
    .type_only(1)
    .dtypes(kNumeric)
    .infer(infer_like)
    .cpu(sum_to_like_cpu)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{apply("broadcast_like", {grad.dout(0), grad.in(0)}), Value()};
    });

[[maybe_unused]] const bool portable = mark_portable({"_sum_to_like"});

}  // namespace
}  // namespace mxnet
