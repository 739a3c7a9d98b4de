// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of symmetric matrices, singular values, pseudo-inverses and LQ factors
// (op/matrix/eigen.cc, svd.cc), by cuSOLVER, one matrix after the other but for many small
// symmetric ones; their gradients are products and kernels of ours. As on the CPU, a matrix with an
// infinity gives NaN and one with a NaN is an error, since iterations need not end on either.
#include <string>

#include "op/matrix/eigen.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/matrices.cuh"
#include "plugin/cuda/solver/solver_choice.h"

namespace mxnet {
namespace cuda {
namespace {

// --- eigenvalues ---------------------------------------------------------------------------------

// Outputs: which one holds vectors (-1: none), as rows or columns, and which one values.
template <int kVectors, int kValues, bool kRows>
void symmetric(const EighParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  compute(context.out(kValues).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Batch<T> batch(context, "eigenvalues", in);
    const int64_t n = batch.n;
    const bool lower = params.uplo == Triangle::kLower;
    constexpr bool kHasVectors = kVectors >= 0;
    T* const values = arrays.out(kValues);
    T* const a =
        kHasVectors && kRows ? arrays.out(kHasVectors ? kVectors : 0) : batch.scratch(in.size());
    batch.copy(in, a);
    for_each_finite(
        batch, a, lower ? Part::kLower : Part::kUpper, {{a, n * n}, {values, n}},
        [&](Solver& solver, int64_t i, int32_t* info) {
          solver.eigen(n, lower, kHasVectors, a + i * n * n, values + i * n, info);
        },
        has_batched_spectra(n, batch.count),
        [&](Solver& solver, int32_t* infos) {
          solver.eigen_of_all(n, batch.count, lower, kHasVectors, a, values, infos);
        });
    if (kHasVectors && !kRows)
      for_each(batch.stream, batch.tag, in.size(),
               Transpose<T>{a, arrays.out(kHasVectors ? kVectors : 0), n, n});
  });
}

// Of p = u du^T, with eigenvectors in rows: (p - p^T) / (2 (w_j - w_i)), and dw on the diagonal.
template <class T>
struct Middle {
  const T *p, *w, *dw;
  T* out;
  int64_t n;
  MX_DEVICE void operator()(int64_t at) const {
    const int64_t matrix = at / (n * n), i = at / n % n, j = at % n;
    const T gap = w[matrix * n + j] - w[matrix * n + i];
    const T turned = p[(matrix * n + j) * n + i];
    out[at] = i == j ? dw[matrix * n + i] : gap == T(0) ? T(0) : (p[at] - turned) / (T(2) * gap);
  }
};

// u^T (middle) u.
void symmetric_slope(const EighParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Batch<T> batch(context, "eigenvalues", in);
    const int64_t n = batch.n, size = in.size();
    const T *du = arrays.in(0), *dw = arrays.in(1), *u = arrays.in(2), *w = arrays.in(3);
    const bool rows = params.rows;
    T *p = batch.scratch(size), *middle = batch.scratch(size), *left = batch.scratch(size);
    batch.multiply(!rows, rows, n, n, n, u, du, p);
    for_each(batch.stream, batch.tag, size, Middle<T>{p, w, dw, middle, n});
    batch.multiply(rows, false, n, n, n, u, middle, left);
    batch.multiply(false, !rows, n, n, n, left, u, arrays.out(0));
  });
}

// --- singular values -----------------------------------------------------------------------------

// The first m rows of matrices of n x n.
template <class T>
struct TakeRows {
  const T* square;
  T* rows;
  int64_t m, n;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t matrix = i / (m * n);
    rows[i] = square[matrix * n * n + i - matrix * m * n];
  }
};

// a (m x n, m <= n, lost) = u diag(s) v for each of the batch.
template <class T>
void decompose(const Batch<T>& batch, T* a, T* u, T* s, T* v) {
  const int64_t m = batch.m, n = batch.n, count = batch.count;
  for_each_finite(
      batch, a, Part::kAll, {{u, m * m}, {s, m}, {v, m * n}},
      [&](Solver& solver, int64_t i, int32_t* info) {
        solver.singular(m, n, a + i * m * n, u + i * m * m, s + i * m, v + i * m * n, info);
      },
      has_batched_singular_values(n, count, Solver::kMostTogether),
      [&](Solver& solver, int32_t* infos) {
        T *const u_turned = batch.scratch(count * m * m), *const v_square =
                                                              batch.scratch(count * n * n);
        solver.singular_of_all(m, n, count, a, u_turned, s, v_square, infos);
        for_each(batch.stream, batch.tag, count * m * m, Transpose<T>{u_turned, u, m, m});
        for_each(batch.stream, batch.tag, count * m * n, TakeRows<T>{v_square, v, m, n});
      });
}

void singular(const void*, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Batch<T> batch(context, "_npi_svd", in);
    const int64_t m = batch.m, n = batch.n;
    T *u = arrays.out(0), *s = arrays.out(1), *v = arrays.out(2), *a = batch.scratch(in.size());
    batch.copy(in, a);
    decompose(batch, a, u, s, v);
  });
}

// The inner matrices of the gradient (op/matrix/svd.cc): k of m x m, and s^-1 dv of m x n.
template <class T>
struct SingularMiddle {
  const T *p, *q, *s, *ds;
  T* k;
  int64_t m;
  MX_DEVICE void operator()(int64_t at) const {
    const int64_t matrix = at / (m * m), i = at / m % m, j = at % m;
    const int64_t turned = (matrix * m + j) * m + i;
    const T si = s[matrix * m + i], sj = s[matrix * m + j];
    const T gap = (sj - si) * (sj + si);
    const T f = i == j || gap == T(0) ? T(0) : T(1) / gap;
    k[at] = f * ((p[at] - p[turned]) * sj + si * (q[at] - q[turned])) +
            (i == j ? ds[matrix * m + i] : T(0)) - (si == T(0) ? T(0) : q[turned] / si);
  }
};
// Rows divided by their singular value; those at or below limit times the largest become zero.
template <class T>
struct DivideRows {
  const T *rows, *s;
  const T* limits;  // null: `limit`; else of each matrix, `limit_step` apart
  int64_t limit_step;
  double limit;
  T* out;
  int64_t m, n;
  MX_DEVICE void operator()(int64_t at) const {
    const int64_t row = at / n, matrix = row / m;
    const double part =
        limits == nullptr ? limit : static_cast<double>(limits[matrix * limit_step]);
    const T least = static_cast<T>(part * static_cast<double>(s[matrix * m]));
    out[at] = s[row] > least ? rows[at] / s[row] : T(0);
  }
};

void singular_slope(const void*, KernelContext& context) {
  const Tensor& in = context.in(2);
  if (in.size() == 0) return;
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Batch<T> batch(context, "_npi_svd", in);
    const int64_t m = batch.m, n = batch.n, square = batch.count * m * m, size = in.size();
    const T *du = arrays.in(0), *ds = arrays.in(1), *dv = arrays.in(2);
    const T *u = arrays.in(3), *s = arrays.in(4), *v = arrays.in(5);
    T *p = batch.scratch(square), *q = batch.scratch(square), *k = batch.scratch(square);
    T *inner = batch.scratch(size), *turned = batch.scratch(size);
    batch.multiply(true, false, m, m, m, u, du, p);
    batch.multiply(false, true, m, m, n, v, dv, q);
    for_each(batch.stream, batch.tag, square, SingularMiddle<T>{p, q, s, ds, k, m});
    for_each(batch.stream, batch.tag, size, DivideRows<T>{dv, s, nullptr, 0, 0.0, inner, m, n});
    batch.multiply(false, false, m, n, m, k, v, turned);
    batch.add(inner, turned, size);
    batch.multiply(false, false, m, n, m, u, inner, arrays.out(0));
  });
}

// A tall matrix by the factors of its transpose.
void pseudo_inverse(const PinvParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    Batch<T> batch(context, "_npi_pinv", in);
    const bool tall = batch.m > batch.n;
    T* a = batch.scratch(in.size());
    batch.copy(in, a);
    if (tall) {
      T* const turned = batch.scratch(in.size());
      for_each(batch.stream, batch.tag, in.size(), Transpose<T>{a, turned, batch.m, batch.n});
      a = turned;
      std::swap(batch.m, batch.n);
    }
    const int64_t m = batch.m, n = batch.n;
    T *u = batch.scratch(batch.count * m * m), *s = batch.scratch(batch.count * m);
    T *v = batch.scratch(in.size()), *divided = batch.scratch(in.size());
    decompose(batch, a, u, s, v);
    const bool given = context.num_in() > 1;
    for_each(batch.stream, batch.tag, in.size(),
             DivideRows<T>{v, s, given ? arrays.in(1) : nullptr,
                           given && context.in(1).size() > 1 ? 1 : 0, params.rcond, divided, m, n});
    if (tall)
      batch.multiply(false, false, m, n, m, u, divided, arrays.out(0));
    else
      batch.multiply(true, true, n, m, m, divided, u, arrays.out(0));
  });
}

// --- a = l q -------------------------------------------------------------------------------------

template <class T>
struct TakeLower {
  const T* a;  // m x n each
  T* l;
  int64_t m, n;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t matrix = i / (m * m), row = i / m % m, column = i % m;
    l[i] = column <= row ? a[(matrix * m + row) * n + column] : T(0);
  }
};

void lq(const void*, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Batch<T> batch(context, "_linalg_gelqf", in);
    const int64_t m = batch.m, n = batch.n;
    T *q = arrays.out(0), *factors = batch.scratch(batch.count * m);
    batch.copy(in, q);
    auto* const infos = context.workspace_of<int32_t>(2 * batch.count);
    Solver solver(dtype_of<T>, context);
    for (int64_t i = 0; i < batch.count; ++i)
      solver.lq_triangle(m, n, q + i * m * n, factors + i * m, infos + i);
    for_each(batch.stream, batch.tag, batch.count * m * m, TakeLower<T>{q, arrays.out(1), m, n});
    for (int64_t i = 0; i < batch.count; ++i)
      solver.lq_rows(m, n, q + i * m * n, factors + i * m, infos + batch.count + i);
    for (const int32_t info : host_values(context, infos, 2 * batch.count)) {
      if (info != 0)
        throw Error(ErrorCode::kValue, batch.tag, "failed (info " + std::to_string(info) + ")");
    }
  });
}

bool by_solver(const void*, const Signature&) { return has_solver(); }

}  // namespace

void add_spectra(std::vector<GpuKernelRow>* rows) {
  const auto add = [&](GpuKernelRow row) {
    row.accepts = by_solver;
    rows->push_back(row);
  };
  add(kernel_row<EighParams, symmetric<0, 1, true>>("_linalg_syevd"));
  add(kernel_row<EighParams, symmetric<1, 0, false>>("_npi_eigh"));
  add(kernel_row<EighParams, symmetric<-1, 0, false>>("_npi_eigvalsh"));
  add(kernel_row<PinvParams, pseudo_inverse>("_npi_pinv"));
  add(kernel_row<PinvParams, pseudo_inverse>("_npi_pinv_scalar_rcond"));
  add({"_linalg_gelqf", lq, nullptr});
  add({"_npi_svd", singular, nullptr});
  rows->push_back(kernel_row<EighParams, symmetric_slope>("_backward_linalg_eigh"));
  rows->push_back({"_backward_npi_svd", singular_slope, nullptr});
}

}  // namespace cuda
}  // namespace mxnet
