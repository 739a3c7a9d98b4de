// SPDX-License-Identifier: Apache-2.0
// Triangles of matrices, products and equations with them
// (op/matrix/triangular.cc). Every right-hand side has a thread of its own, or, of large triangles,
// cuBLAS solves all of a matrix at once. What has no solution has numbers that are none: kernels
// cannot throw.
#include "op/params/triangular.h"
#include "op/run/element_size.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/solver/solver.h"
#include "plugin/cuda/solver/solver_choice.h"

namespace mxnet {
namespace cuda {
namespace {

int64_t side_of(const Tensor& square) { return square.shape().back(); }
// The array, or a copy where results go into its own memory.
template <class T>
const T* apart(NativeStream* stream, const T* from, const T* out, int64_t count,
               KernelContext& context) {
  if (from != out) return from;
  T* const copy = context.workspace_of<T>(count);
  const Shape shape{count};
  convert(stream, {const_cast<T*>(from), &shape, dtype_of<T>}, {copy, &shape, dtype_of<T>});
  return copy;
}

// --- parts ---------------------------------------------------------------------------------------

template <Part kPart, class T>
struct TakePart {
  const T* in;
  T* out;
  int64_t n;
  bool lower;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / n % n, column = i % n, matrix = i / (n * n) * n * n;
    const T here = in[i], mirrored = in[matrix + column * n + row];
    const bool inside = row == column || (row > column) == lower;
    if (kPart == Part::kTriangle)
      out[i] = inside ? here : T(0);
    else if (kPart == Part::kHalfSymmetric)
      out[i] = (inside ? here : mirrored) / 2;
    else
      out[i] = !inside ? T(0) : row == column ? here : here + mirrored;
  }
};
template <Part kPart, class T>
void take_part(NativeStream* stream, bool lower, int64_t n, const T* in, T* out, int64_t count) {
  for_each(stream, "linalg_part", count, TakePart<kPart, T>{in, out, n, lower});
}
template <Part kPart>
void part(const LowerParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T* const out = arrays.out(0);
    const T* from = apart<T>(arrays.stream(), arrays.in(0), out, in.size(), context);
    take_part<kPart>(arrays.stream(), params.lower, side_of(in), from, out, in.size());
  });
}

// Only moves elements, of sizeof(T) bytes: zeros are bytes of 0 in every type.
template <class T>
struct LowerPart {
  const T* in;
  T* out;
  int64_t rows, columns, k;
  bool one_row;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t column = i % columns;
    out[i] = column <= i / columns % rows + k ? in[one_row ? column : i] : T(0);
  }
};
void tril(const TrilParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    for_each(context.stream()->native(), "_npi_tril", out.size(),
             LowerPart<T>{in.as<T>(), out.as<T>(), out.dim(out.ndim() - 2), out.shape().back(),
                          params.k, in.ndim() == 1});
  };
  dispatch_size(in.dtype, run);
}

// --- equations and products ----------------------------------------------------------------------

// One right-hand side, in place; its elements are `element_step` apart.
template <class T>
struct Substitute {
  const T* a;
  T* x;
  int64_t n, count;  // right-hand sides of a matrix
  int64_t side_step, element_step;
  bool lower, transposed;
  T alpha;

  MX_DEVICE void operator()(int64_t i) const {
    const int64_t matrix = i / count;
    const T* m = a + matrix * n * n;
    T* side = x + matrix * n * count + (i - matrix * count) * side_step;
    const bool forwards = lower != transposed;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t row = forwards ? k : n - 1 - k;
      T sum = alpha * side[row * element_step];
      for (int64_t j = 0; j < k; ++j) {
        const int64_t column = forwards ? j : n - 1 - j;
        sum -=
            (transposed ? m[column * n + row] : m[row * n + column]) * side[column * element_step];
      }
      side[row * element_step] = sum / m[row * n + row];
    }
  }
};

// x becomes what solves the equations with the triangles of `batch` matrices one behind the other.
template <class T>
void solve_triangles(const char* op, const TriangleEquations& of, int64_t batch, const T* a, T* x,
                     KernelContext& context) {
  const int64_t n = of.n, count = of.count;
  if (is_large_for_a_thread(n, batch) && has_solver()) {
    Solver solver(dtype_of<T>, context);
    for (int64_t i = 0; i < batch; ++i) solver.solve_triangle(of, a + i * n * n, x + i * n * count);
    return;
  }
  for_each(context.stream()->native(), op, batch * count,
           Substitute<T>{a, x, n, count, of.in_rows ? n : 1, of.in_rows ? 1 : count, of.lower,
                         of.transposed, static_cast<T>(of.alpha)});
}

void solve_triangular(const TriangularParams& params, KernelContext& context) {
  const Tensor &a = context.in(0), &b = context.in(1);
  if (b.size() == 0) return;
  const int64_t n = side_of(a), columns = b.shape().back(), rows = b.dim(b.ndim() - 2);
  compute(b.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T* const x = arrays.out(0);
    if (params.alpha == 0)  // as BLAS has it: nothing is read
      return fill(arrays.stream(), {x, &b.shape(), dtype_of<T>}, 0);
    convert(arrays.stream(), b, {x, &b.shape(), dtype_of<T>});
    // From the right it is the transposed equation with rows as right-hand sides.
    solve_triangles<T>("_linalg_trsm",
                       {.n = n,
                        .count = params.rightside ? rows : columns,
                        .lower = params.lower,
                        .transposed = params.transpose != params.rightside,
                        .in_rows = params.rightside,
                        .alpha = params.alpha},
                       b.size() / (rows * columns), arrays.in(0), x, context);
  });
}

void multiply_triangular(const TriangularParams& params, KernelContext& context) {
  const Tensor &a = context.in(0), &b = context.in(1);
  if (b.size() == 0) return;
  const int64_t n = side_of(a), columns = b.shape().back(), rows = b.dim(b.ndim() - 2);
  compute(b.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    NativeStream* const stream = arrays.stream();
    T* const triangle = context.workspace_of<T>(a.size());
    take_part<Part::kTriangle>(stream, params.lower, n, arrays.in(0), triangle, a.size());
    T* const out = arrays.out(0);
    const T* from = apart<T>(stream, arrays.in(1), out, b.size(), context);
    const bool right = params.rightside;
    gemm(stream,
         {.dtype = dtype_of<T>,
          .transpose_a = !right && params.transpose,
          .transpose_b = right && params.transpose,
          .m = rows,
          .n = columns,
          .k = n,
          .a = right ? from : triangle,
          .lda = n,
          .step_a = right ? rows * columns : n * n,
          .b = right ? triangle : from,
          .ldb = columns,
          .step_b = right ? n * n : rows * columns,
          .c = out,
          .ldc = columns,
          .step_c = rows * columns,
          .batch = a.size() / (n * n),
          .alpha = params.alpha},
         context);
  });
}

// --- the inverse from the Cholesky factor
// ---------------------------------------------------------

template <class T>
struct WriteIdentity {
  T* out;
  int64_t n;
  MX_DEVICE void operator()(int64_t i) const { out[i] = i / n % n == i % n ? T(1) : T(0); }
};
// (l l^T)^-1 = l^-T l^-1, or of the upper factor u = l^T.
void inverse_of_factor(const LowerParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  const int64_t n = side_of(in);
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    NativeStream* const stream = arrays.stream();
    T* const out = arrays.out(0);
    const T* factor = apart<T>(stream, arrays.in(0), out, in.size(), context);
    for_each(stream, "_linalg_potri", in.size(), WriteIdentity<T>{out, n});
    for (const bool transposed : {!params.lower, params.lower})
      solve_triangles<T>("_linalg_potri",
                         {.n = n, .count = n, .lower = params.lower, .transposed = transposed},
                         in.size() / (n * n), factor, out, context);
  });
}

}  // namespace

void add_triangular(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<LowerParams, part<Part::kTriangle>>("_backward_linalg_triangle"));
  rows->push_back(
      kernel_row<LowerParams, part<Part::kHalfSymmetric>>("_backward_linalg_half_symmetric"));
  rows->push_back(kernel_row<LowerParams, part<Part::kFolded>>("_backward_linalg_fold_triangle"));
  rows->push_back(kernel_row<TrilParams, tril>("_npi_tril"));
  rows->push_back(kernel_row<TriangularParams, solve_triangular>("_linalg_trsm"));
  rows->push_back(kernel_row<TriangularParams, multiply_triangular>("_linalg_trmm"));
  rows->push_back(kernel_row<LowerParams, inverse_of_factor>("_linalg_potri"));
}

}  // namespace cuda
}  // namespace mxnet
