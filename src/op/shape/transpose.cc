// SPDX-License-Identifier: Apache-2.0
// Orders of dimensions: transpose, SwapAxis, moveaxis. Each names a permutation; one kernel, one
// inference in both directions and one gradient (the inverse permutation) serve all.
#include <fmt/format.h>

#include "base/error.h"
#include "op/op_builder.h"
#include "op/run/primitives.h"
#include "op/shape/axes.h"

namespace mxnet {
namespace {

struct TransposeParams {
  Shape axes;
};
struct NumpyTransposeParams {
  Shape axes;
};
struct SwapAxisParams {
  int32_t dim1, dim2;
};
struct MoveAxisParams {
  Shape source, destination;
};

// axes_of(params, ndim): the dimensions in their new order; throws what is wrong with the
// parameters.

Axes full_permutation(const Shape& given, int ndim, const char* tag) {
  if (given.ndim() != ndim) {
    throw Error(
        ErrorCode::kValue, tag,
        fmt::format("given axes {} for an array of {} dimensions, expected each dimension once",
                    to_string(given), ndim));
  }
  return Axes(given, ndim, tag);
}

Axes axes_of(const TransposeParams& params, int ndim) {
  return params.axes.empty() ? Axes::reversed(ndim)
                             : full_permutation(params.axes, ndim, "transpose");
}

Axes axes_of(const NumpyTransposeParams& params, int ndim) {
  return params.axes.rank_known() ? full_permutation(params.axes, ndim, "_np_transpose")
                                  : Axes::reversed(ndim);
}

Axes axes_of(const SwapAxisParams& params, int ndim) {
  const int a = normalize_axis(params.dim1, ndim, "SwapAxis");
  const int b = normalize_axis(params.dim2, ndim, "SwapAxis");
  Axes axes = Axes::identity(ndim);
  std::swap(axes[a], axes[b]);
  return axes;
}

Axes axes_of(const MoveAxisParams& params, int ndim) {
  const Axes from(params.source, ndim, "_np_moveaxis"),
      to(params.destination, ndim, "_np_moveaxis");
  if (from.size() != to.size()) {
    throw Error(ErrorCode::kValue, "_np_moveaxis",
                fmt::format("given source {} and destination {}, expected as many axes in both",
                            to_string(params.source), to_string(params.destination)));
  }
  Axes axes = Axes::identity(ndim);
  int next = 0;
  for (int i = 0; i < ndim; ++i) {
    if (to.contains(i)) continue;
    while (from.contains(next)) ++next;
    axes[i] = next++;
  }
  for (int i = 0; i < to.size(); ++i) axes[to[i]] = from[i];
  return axes;
}

template <class P>
void infer_permuted(const P& params, Infer& infer) {
  InferArg in = infer.in(0), out = infer.out(0);
  in.same_dtype(out);
  if (in.rank_known()) out.set_shape(permuted_shape(in.shape(), axes_of(params, in.ndim())));
  if (out.rank_known() && !in.known())
    in.set_shape(permuted_shape(out.shape(), axes_of(params, out.ndim()).inverse()));
}

template <class P>
void permute_cpu(const P& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  copy_strided(context, permutation_plan(in.shape(), axes_of(params, in.ndim())), in.data, out.data,
               dtype_size(in.dtype));
}

// The inverse permutation, as an operator that computes it without knowing the rank.
Value back(const TransposeParams& params, const Value& dy) {
  if (params.axes.empty()) return apply("transpose", {dy});
  return apply("transpose", {dy}, {{"axes", axes_of(params, params.axes.ndim()).inverse().text()}});
}
Value back(const NumpyTransposeParams& params, const Value& dy) {
  if (params.axes.empty()) return apply("transpose", {dy});
  return apply("transpose", {dy}, {{"axes", axes_of(params, params.axes.ndim()).inverse().text()}});
}
Value back(const SwapAxisParams& params, const Value& dy) {
  return apply("SwapAxis", {dy},
               {{"dim1", std::to_string(params.dim1)}, {"dim2", std::to_string(params.dim2)}});
}
Value back(const MoveAxisParams& params, const Value& dy) {
  return apply("_np_moveaxis", {dy},
               {{"source", ParamText<Shape>::print(params.destination)},
                {"destination", ParamText<Shape>::print(params.source)}});
}

template <class P>
void define_permutation(OpBuilder<P> op) {
  op.infer(infer_permuted<P>).cpu(permute_cpu<P>).grad([](const P& params, Grad& grad) {
    return Gradients{back(params, grad.dout(0))};
  });
}

[[maybe_unused]] const bool defined = [] {
  define_permutation(
      OpBuilder<TransposeParams>("transpose")
          .doc("The array with its dimensions in another order.")
          .input("data", "The array.")
          .param("axes", &TransposeParams::axes, Shape::scalar(),
                 "For each dimension of the result the one it comes from; reversed if empty."));
  define_permutation(
      OpBuilder<NumpyTransposeParams>("_np_transpose")
          .doc("The array with its dimensions in another order.")
          .input("a", "The array.")
          .param("axes", &NumpyTransposeParams::axes, Shape(),
                 "For each dimension of the result the one it comes from; reversed if None."));
  define_permutation(OpBuilder<SwapAxisParams>("SwapAxis")
                         .alias("swapaxes")
                         .alias("_npi_swapaxes")
                         .doc("The array with two dimensions exchanged.")
                         .input("data", "The array.")
                         .param("dim1", &SwapAxisParams::dim1, 0, "One dimension.")
                         .param("dim2", &SwapAxisParams::dim2, 0, "The other."));
  define_permutation(
      OpBuilder<MoveAxisParams>("_np_moveaxis")
          .doc("The array with some dimensions at other positions.")
          .input("a", "The array.")
          .param("source", &MoveAxisParams::source, "Dimensions to move.")
          .param("destination", &MoveAxisParams::destination, "Their positions in the result."));
  return true;
}();

[[maybe_unused]] const bool portable =
    mark_portable({"transpose", "_np_transpose", "SwapAxis", "_np_moveaxis"});

}  // namespace
}  // namespace mxnet
