// SPDX-License-Identifier: Apache-2.0
// Diagonals taken out of arrays, and arrays made of them: each the other's gradient.
#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "op/run/accumulate.h"
#include "op/run/adding.h"
#include "op/run/primitives.h"
#include "op/shape/adjoint.h"
#include "op/shape/diagonal_plan.h"

namespace mxnet {
namespace {

struct DiagParams {
  int32_t k, axis1, axis2;
};
struct NumpyDiagParams {
  int32_t k;
};
struct DiagonalParams {
  int32_t offset, axis1, axis2;
};
struct DiagflatParams {
  int32_t k;
};

// makes_matrix(params, ndim): whether the input becomes a diagonal, rather than giving its own.
bool makes_matrix(const DiagParams&, int ndim) { return ndim == 1; }
bool makes_matrix(const NumpyDiagParams&, int ndim) { return ndim == 1; }
bool makes_matrix(const DiagonalParams&, int) { return false; }
bool makes_matrix(const DiagflatParams&, int) { return true; }

DiagonalPlace matrix_place(int64_t k) { return {0, 1, k}; }
DiagonalPlace place_between(int32_t a, int32_t b, int64_t k, int ndim, const char* tag) {
  const DiagonalPlace place{normalize_axis(a, ndim, tag), normalize_axis(b, ndim, tag), k};
  if (place.axis1 == place.axis2)
    throw Error(ErrorCode::kValue, tag,
                fmt::format("given axis1 {} and axis2 {}, expected two dimensions", a, b));
  return place;
}

// place_of(params, ndim): the diagonal in the array that has it, of `ndim` dimensions.
DiagonalPlace place_of(const DiagParams& p, int ndim, bool made) {
  return made ? matrix_place(p.k) : place_between(p.axis1, p.axis2, p.k, ndim, "diag");
}
DiagonalPlace place_of(const NumpyDiagParams& p, int, bool) { return matrix_place(p.k); }
DiagonalPlace place_of(const DiagflatParams& p, int, bool) { return matrix_place(p.k); }
DiagonalPlace place_of(const DiagonalParams& p, int ndim, bool) {
  return place_between(p.axis1, p.axis2, p.offset, ndim, "_np_diagonal");
}

template <class P>
constexpr bool kAllowsOutside = !std::is_same_v<P, DiagParams>;

template <class P>
void infer_diagonal(const P& params, Infer& infer) {
  InferArg in = infer.in(0);
  in.same_dtype(infer.out(0));
  if (!in.known()) return;
  if (makes_matrix(params, in.ndim())) {
    const int64_t k = place_of(params, 2, true).offset;
    const int64_t side = in.shape().size() + std::abs(k);
    infer.out(0).set_shape({side, side});
    return;
  }
  if (in.ndim() < 2 || (std::is_same_v<P, NumpyDiagParams> && in.ndim() > 2))
    in.fail(std::is_same_v<P, NumpyDiagParams> ? "1 or 2 dimensions" : "at least 2 dimensions");
  const DiagonalPlace place = place_of(params, in.ndim(), false);
  const int64_t length = place.length(in.shape());
  if (length < 0 && !kAllowsOutside<P>)
    in.fail(fmt::format("a shape in which there is a diagonal {}", place.offset));
  infer.out(0).set_shape(place.shape(in.shape(), std::max<int64_t>(length, 0)));
}

void extract(const DiagonalPlace& place, const Tensor& full, const Tensor& diagonals,
             KernelContext& context) {
  copy_strided(context, place.plan(full.shape()), full.data, diagonals.data,
               dtype_size(full.dtype));
}

void embed(const DiagonalPlace& place, const Tensor& diagonals, const Tensor& full,
           KernelContext& context) {
  const std::size_t element = dtype_size(full.dtype);
  clear_memory(context, full.data, static_cast<std::size_t>(full.size()) * element);
  copy_strided(context, place.plan(full.shape()).reversed(), diagonals.data, full.data, element);
}

template <class P>
void forward_cpu(const P& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  if (makes_matrix(params, in.ndim())) {
    embed(place_of(params, 2, true), in, out, context);
  } else {
    extract(place_of(params, in.ndim(), false), in, out, context);
  }
}

// The diagonals of `full` grow by those.
void add_to_diagonals(const DiagonalPlace& place, const Tensor& diagonals, const Tensor& full,
                      KernelContext& context) {
  if (diagonals.size() == 0) return;
  const std::size_t element = dtype_size(full.dtype);
  const Tensor sums{context.workspace(static_cast<std::size_t>(diagonals.size()) * element),
                    diagonals.shape_ptr, diagonals.dtype};
  extract(place, full, sums, context);
  accumulate(sums, diagonals);
  copy_strided(context, place.plan(full.shape()).reversed(), sums.data, full.data, element);
}

template <class P>
void adding_backward_cpu(const P& params, KernelContext& context) {
  const Tensor& dy = context.in(0);
  const Tensor& dx = context.out(0);
  if (!makes_matrix(params, dx.ndim()))
    return add_to_diagonals(place_of(params, dx.ndim(), false), dy, dx, context);
  if (dx.size() == 0) return;
  const Tensor diagonal{
      context.workspace(static_cast<std::size_t>(dx.size()) * dtype_size(dx.dtype)), dx.shape_ptr,
      dx.dtype};
  extract(place_of(params, 2, true), dy, diagonal, context);
  accumulate(dx, diagonal);
}

template <class P>
void backward_cpu(const P& params, KernelContext& context) {
  const Tensor& dy = context.in(0);
  const Tensor& dx = context.out(0);
  if (makes_matrix(params, dx.ndim())) {
    extract(place_of(params, 2, true), dy, dx, context);
  } else {
    embed(place_of(params, dx.ndim(), false), dy, dx, context);
  }
}

template <class P>
void define(const char* name, const char* doc, void (*declare)(OpBuilder<P>&)) {
  define_linear<P>({.name = name,
                    .doc = doc,
                    .declare = declare,
                    .infer = infer_diagonal<P>,
                    .forward = forward_cpu<P>,
                    .backward = backward_cpu<P>});
  add_adding("_backward_" + std::string(name), adding_backward_cpu<P>);
}

constexpr const char* kOffsetDoc = "Which diagonal: 0 the main one, above it positive.";

[[maybe_unused]] const bool defined = [] {
  define<DiagParams>("diag", "The diagonals of an array, or the matrix that has a row as diagonal.",
                     [](OpBuilder<DiagParams>& op) {
                       op.param("k", &DiagParams::k, 0, kOffsetDoc);
                       op.param("axis1", &DiagParams::axis1, 0, "Rows of the matrices.");
                       op.param("axis2", &DiagParams::axis2, 1, "Columns of the matrices.");
                     });
  define<NumpyDiagParams>(
      "_np_diag", "The diagonal of a matrix, or the matrix that has a row as diagonal.",
      [](OpBuilder<NumpyDiagParams>& op) { op.param("k", &NumpyDiagParams::k, 0, kOffsetDoc); });
  define<DiagflatParams>(
      "_np_diagflat", "The matrix that has all elements as its diagonal.",
      [](OpBuilder<DiagflatParams>& op) { op.param("k", &DiagflatParams::k, 0, kOffsetDoc); });
  define<DiagonalParams>("_np_diagonal", "The diagonals of an array.",
                         [](OpBuilder<DiagonalParams>& op) {
                           op.param("offset", &DiagonalParams::offset, 0, kOffsetDoc);
                           op.param("axis1", &DiagonalParams::axis1, 0, "Rows of the matrices.");
                           op.param("axis2", &DiagonalParams::axis2, 1, "Columns of the matrices.");
                         });
  return true;
}();

[[maybe_unused]] const bool portable =
    mark_portable({"diag", "_np_diag", "_np_diagflat", "_np_diagonal", "_backward_diag",
                   "_backward__np_diag", "_backward__np_diagflat", "_backward__np_diagonal"});

}  // namespace
}  // namespace mxnet
