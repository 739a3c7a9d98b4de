// SPDX-License-Identifier: Apache-2.0
// Dimensions of 1 repeated to any size. The gradient sums up what was spread.
#include <fmt/format.h>

#include "op/op_builder.h"
#include "op/run/primitives.h"
#include "op/shape/axes.h"

namespace mxnet {
namespace {

struct BroadcastToParams {
  Shape shape;
};
struct BroadcastAxisParams {
  Shape axis, size;
};
struct BroadcastLikeParams {
  std::optional<Shape> lhs_axes, rhs_axes;
};

template <class P>
void broadcast_cpu(const P&, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  copy_strided(context, broadcast_plan(in.shape(), out.shape()), in.data, out.data,
               dtype_size(in.dtype));
}

template <class P>
Gradients broadcast_grad(const P&, Grad& grad) {
  Gradients result(static_cast<std::size_t>(grad.num_in()));
  result[0] = apply("_sum_to_like", {grad.dout(0), grad.in(0)});
  return result;
}

void infer_broadcast_to(const BroadcastToParams& params, Infer& infer) {
  constexpr int64_t kKeep = 0;
  InferArg in = infer.in(0);
  in.same_dtype(infer.out(0));
  if (!in.rank_known()) return;
  Shape out = params.shape;
  bool fits = out.ndim() == in.ndim();
  for (int i = 0; fits && i < out.ndim(); ++i) {
    if (out[i] == kKeep) {
      out[i] = in.dim(i);
    } else {
      fits = out[i] > 0 && (in.dim(i) == out[i] || in.dim(i) == 1 || in.dim(i) < 0);
    }
  }
  if (!fits) in.fail("a shape that broadcasts to " + to_string(params.shape));
  infer.out(0).set_shape(out);
}

void infer_numpy_broadcast_to(const BroadcastToParams& params, Infer& infer) {
  constexpr int64_t kKeep = -2;
  InferArg in = infer.in(0);
  in.same_dtype(infer.out(0));
  if (!in.rank_known()) return;
  Shape out = params.shape;
  const int added = out.ndim() - in.ndim();
  bool fits = added >= 0;
  for (int i = 0; fits && i < out.ndim(); ++i) {
    const int64_t mine = i < added ? 1 : in.dim(i - added);
    if (out[i] == kKeep && i >= added) {
      out[i] = mine;
    } else {
      fits = out[i] >= 0 && (mine == out[i] || mine == 1 || mine < 0);
    }
  }
  if (!fits) in.fail("a shape that broadcasts to " + to_string(params.shape));
  infer.out(0).set_shape(out);
}

void infer_broadcast_axis(const BroadcastAxisParams& params, Infer& infer) {
  InferArg in = infer.in(0);
  in.same_dtype(infer.out(0));
  if (params.axis.ndim() != params.size.ndim()) {
    infer.fail(fmt::format("given axis {} and size {}, expected a size for each axis",
                           to_string(params.axis), to_string(params.size)));
  }
  if (!in.known()) return;
  Shape out = in.shape();
  for (int i = 0; i < params.axis.ndim(); ++i) {
    const int axis = infer.axis(params.axis[i], in);
    if (in.dim(axis) != 1) in.fail(fmt::format("size 1 in dimension {}", axis));
    out[axis] = params.size[i];
  }
  infer.out(0).set_shape(out);
}

// Whether a dimension may be repeated to this size; below 0 are unknown ones.
bool spreads(int64_t dim, int64_t size) { return dim < 0 || dim == 1 || size < 0 || dim == size; }

void infer_broadcast_like(const BroadcastLikeParams& params, Infer& infer) {
  InferArg lhs = infer.in(0), rhs = infer.in(1);
  lhs.same_dtype(infer.out(0));
  if (!lhs.rank_known() || !rhs.rank_known()) return;
  if (params.lhs_axes.has_value() != params.rhs_axes.has_value())
    infer.fail("given one of lhs_axes and rhs_axes, expected both or none");
  Shape out = lhs.shape();
  if (params.lhs_axes) {
    const Axes from(*params.lhs_axes, lhs.ndim(), "broadcast_like");
    if (from.size() != params.rhs_axes->ndim() || from.size() == 0) {
      infer.fail(fmt::format("given lhs_axes {} and rhs_axes {}, expected as many in both",
                             to_string(*params.lhs_axes), to_string(*params.rhs_axes)));
    }
    for (int i = 0; i < from.size(); ++i) {
      const int64_t size = rhs.dim(infer.axis((*params.rhs_axes)[i], rhs));
      if (!spreads(lhs.dim(from[i]), size))
        lhs.fail(fmt::format("size 1 or {} in dimension {}", size, from[i]));
      out[from[i]] = size;
    }
  } else {
    bool fits = lhs.ndim() == rhs.ndim();
    for (int i = 0; fits && i < lhs.ndim(); ++i) {
      fits = spreads(lhs.dim(i), rhs.dim(i));
      if (rhs.dim(i) >= 0 || lhs.dim(i) == 1) out[i] = rhs.dim(i);
    }
    if (!fits) lhs.fail("a shape that broadcasts to that of 'rhs', " + to_string(rhs.shape()));
  }
  infer.out(0).set_shape(out);
}

MX_OP(broadcast_to, BroadcastToParams)
.doc("The array with dimensions of 1 repeated to a given shape.")
    .input("data", "The array.")
    .param("shape", &BroadcastToParams::shape, Shape::scalar(), "The shape; 0 keeps a dimension.")
    .infer(infer_broadcast_to)
    .cpu(broadcast_cpu<BroadcastToParams>)
    .grad(broadcast_grad<BroadcastToParams>);

MX_OP(_npi_broadcast_to, BroadcastToParams)
.doc("The array repeated to a given shape by NumPy's rule.")
    .input("array", "The array.")
    .param("shape", &BroadcastToParams::shape, Shape::scalar(), "The shape; -2 keeps a dimension.")
    .infer(infer_numpy_broadcast_to)
    .cpu(broadcast_cpu<BroadcastToParams>)
    .grad(broadcast_grad<BroadcastToParams>);

MX_OP(broadcast_axis, BroadcastAxisParams)
.alias("broadcast_axes")
    .doc("The array with some dimensions of 1 repeated.")
    .input("data", "The array.")
    .param("axis", &BroadcastAxisParams::axis, Shape::scalar(), "The dimensions.")
    .param("size", &BroadcastAxisParams::size, Shape::scalar(), "Their new sizes.")
    .infer(infer_broadcast_axis)
    .cpu(broadcast_cpu<BroadcastAxisParams>)
    .grad(broadcast_grad<BroadcastAxisParams>);

MX_OP(broadcast_like, BroadcastLikeParams)
.doc("`lhs` with dimensions of 1 repeated to the sizes that `rhs` has.")
    .input("lhs", "The array.")
    .input("rhs", "Only its shape matters.")
    .param("lhs_axes", &BroadcastLikeParams::lhs_axes, std::nullopt,
           "Dimensions of lhs to repeat; all if None.")
    .param("rhs_axes", &BroadcastLikeParams::rhs_axes, std::nullopt,
           "Dimensions of rhs that give their sizes.")
    .type_only(1)
    .infer(infer_broadcast_like)
    .cpu(broadcast_cpu<BroadcastLikeParams>)
    .grad(broadcast_grad<BroadcastLikeParams>);

[[maybe_unused]] const bool portable =
    mark_portable({"broadcast_to", "_npi_broadcast_to", "broadcast_axis", "broadcast_like"});

}  // namespace
}  // namespace mxnet
