// SPDX-License-Identifier: Apache-2.0
// Equations (op/matrix/solve.cc), by the factors of their matrices; those of tensors are the same
// once dimensions are joined.
#include "op/matrix/tensor_equations.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/lu.cuh"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

using namespace lu;  // NOLINT(google-build-using-namespace): what this file goes on with

template <class T>
struct Transpose {
  const T* in;
  T* out;
  int64_t n;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t matrix = i / (n * n) * n * n;
    out[i] = in[matrix + i % n * n + i / n % n];
  }
};

// a x = b or, `transposed`, with the transpose of a, for gradients: a had solutions before. x holds
// b before.
template <class T>
void solve_sides(NativeStream* stream, const T* a, bool transposed, int64_t batch, int64_t n, T* x,
                 int64_t count, KernelContext& context) {
  const Shape all{batch * n * n};
  T* const lu = context.workspace_of<T>(all[0]);
  // Factors are those of the transpose of what they are made from.
  if (transposed)
    convert(stream, {const_cast<T*>(a), &all, dtype_of<T>}, {lu, &all, dtype_of<T>});
  else
    for_each(stream, "_npi_solve", all[0], Transpose<T>{a, lu, n});
  auto* const exchanges = context.workspace_of<int32_t>(batch * n);
  factorise(lu, exchanges, batch, n, !transposed, "_npi_solve", context);
  substitute<T>(lu, exchanges, batch, {n, count, false}, x, "_npi_solve", context);
}

int64_t sides_of(const Tensor& a, const Tensor& x) {
  return x.ndim() == a.ndim() ? x.shape().back() : 1;
}

// Inputs: a, b.
void solve(const void*, KernelContext& context) {
  const Tensor &a = context.in(0), &b = context.in(1);
  if (b.size() == 0) return;
  compute(context.out(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T* const x = arrays.out(0);
    convert(arrays.stream(), b, {x, &b.shape(), dtype_of<T>});
    solve_sides<T>(arrays.stream(), arrays.in(0), false, batch_of(a), side_of(a), x, sides_of(a, b),
                   context);
  });
}
// da = -db x^T for each of the batch.
template <class T>
void outer_products(NativeStream* stream, const T* db, const T* x, int64_t batch, int64_t n,
                    int64_t count, T* da, KernelContext& context) {
  gemm(stream,
       {.dtype = dtype_of<T>,
        .transpose_a = false,
        .transpose_b = true,
        .m = n,
        .n = n,
        .k = count,
        .a = db,
        .lda = count,
        .step_a = n * count,
        .b = x,
        .ldb = count,
        .step_b = n * count,
        .c = da,
        .ldc = n,
        .step_c = n * n,
        .batch = batch,
        .alpha = -1},
       context);
}
// Inputs: gradient of x, a, x, b (for its shape); db = a^-T dx, da = -db x^T.
void solve_slope(const void*, KernelContext& context) {
  const Tensor &dx = context.in(0), &a = context.in(1);
  // No solution depends on a then.
  if (dx.size() == 0) return fill(context.stream()->native(), context.out(0), 0);
  const int64_t n = side_of(a), batch = batch_of(a), count = sides_of(a, dx);
  compute(dx.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T *const da = arrays.out(0), *const db = arrays.out(1);
    convert(arrays.stream(), dx, {db, &dx.shape(), dtype_of<T>});
    solve_sides<T>(arrays.stream(), arrays.in(1), true, batch, n, db, count, context);
    outer_products(arrays.stream(), static_cast<const T*>(db), arrays.in(2), batch, n, count, da,
                   context);
  });
}

// --- tensors as matrices -------------------------------------------------------------------------

// Moves numbers between a and the matrix of its equations, whose steps in a are the first of
// `walk`.
template <class T>
struct Rearrange {
  const T* from;
  T* to;
  Walk<2> walk;
  bool back;
  MX_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    walk.offsets(i, at);
    if (back)
      to[at[0]] = from[at[1]];
    else
      to[at[1]] = from[at[0]];
  }
};
template <class T>
void rearrange(NativeStream* stream, const TensorsolveParams& params, const Shape& shape,
               const T* from, T* to, bool back) {
  const std::vector<int> order = axes_moved_last(shape.ndim(), params.a_axes);
  int64_t steps[Shape::kMaxDims], step = 1;
  for (int d = shape.ndim() - 1; d >= 0; --d) {
    steps[d] = step;
    step *= shape[d];
  }
  Walk<2> walk;
  for (const int axis : order) {
    step /= shape[axis];
    walk.add(shape[axis], {steps[axis], step});
  }
  for_each(stream, "_npi_tensorsolve", shape.size(), Rearrange<T>{from, to, walk, back});
}

// Inputs: a, b.
void solve_tensor(const TensorsolveParams& params, KernelContext& context) {
  const Tensor &a = context.in(0), &b = context.in(1);
  if (b.size() == 0) return;
  compute(context.out(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T *const matrix = context.workspace_of<T>(a.size()), *const x = arrays.out(0);
    rearrange(arrays.stream(), params, a.shape(), arrays.in(0), matrix, false);
    convert(arrays.stream(), b, {x, &b.shape(), dtype_of<T>});
    solve_sides<T>(arrays.stream(), matrix, false, 1, b.size(), x, 1, context);
  });
}
// Inputs: gradient of x, a, x, b (for its shape).
void solve_tensor_slope(const TensorsolveParams& params, KernelContext& context) {
  const Tensor &dx = context.in(0), &a = context.in(1);
  if (dx.size() == 0) return;
  compute(dx.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const int64_t n = dx.size();
    T *const da = arrays.out(0), *const db = arrays.out(1);
    T* const matrix = context.workspace_of<T>(a.size());
    rearrange(arrays.stream(), params, a.shape(), arrays.in(1), matrix, false);
    convert(arrays.stream(), dx, {db, &dx.shape(), dtype_of<T>});
    solve_sides<T>(arrays.stream(), matrix, true, 1, n, db, 1, context);
    // The matrix is spent: it takes the gradient of the rearranged a.
    outer_products(arrays.stream(), static_cast<const T*>(db), arrays.in(2), 1, n, 1, matrix,
                   context);
    rearrange(arrays.stream(), params, a.shape(), static_cast<const T*>(matrix), da, true);
  });
}

}  // namespace

void add_equations(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"_npi_solve", solve, nullptr});
  rows->push_back({"_backward_npi_solve", solve_slope, nullptr});
  rows->push_back(kernel_row<TensorsolveParams, solve_tensor>("_npi_tensorsolve"));
  rows->push_back(kernel_row<TensorsolveParams, solve_tensor_slope>("_backward_npi_tensorsolve"));
}

}  // namespace cuda
}  // namespace mxnet
