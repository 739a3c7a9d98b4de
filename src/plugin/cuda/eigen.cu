// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of matrices that need not be symmetric (op/matrix/eigen.cc), by
// cuSOLVER, one matrix after the other; the inner matrix of their gradient is products and a kernel
// of ours. As on the CPU, what is not finite and what has complex eigenvalues is an error.
#include "plugin/cuda/families.h"
#include "plugin/cuda/matrices.cuh"

namespace mxnet {
namespace cuda {
namespace {

constexpr char kTag[] = "_npi_eig";

// Real parts out of those of each matrix and the imaginary ones behind them.
template <class T>
struct TakeReal {
  const T* pairs;
  T* real;
  int64_t n;
  MX_DEVICE void operator()(int64_t i) const { real[i] = pairs[i / n * 2 * n + i % n]; }
};

template <class T>
void expect_real(const Batch<T>& batch, const T* pairs) {
  const int64_t n = batch.n;
  const std::vector<T> values = host_values(batch.context, pairs, batch.count * 2 * n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (static_cast<int64_t>(i) % (2 * n) >= n && values[i] != T(0))
      throw Error(ErrorCode::kValue, kTag,
                  "given a matrix with complex eigenvalues, expected real ones");
  }
}

template <bool kVectors>
void general(const void*, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  compute(context.out(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Batch<T> batch(context, kTag, in);
    const int64_t n = batch.n, square = n * n;
    T *given = batch.scratch(in.size()), *a = batch.scratch(in.size());
    T* const pairs = batch.scratch(2 * batch.count * n);
    T* const rows = kVectors ? batch.scratch(in.size()) : nullptr;
    batch.copy(in, given);
    for (const int32_t content : contents_of(batch, given, Part::kAll)) {
      if (content != kFinite)
        throw Error(ErrorCode::kValue, kTag, "did not converge (given a matrix with infinities)");
    }
    for_each(batch.stream, kTag, in.size(), Transpose<T>{given, a, n, n});
    {
      const Infos<T> infos(batch);
      Solver solver(dtype_of<T>, context);
      for (int64_t i = 0; i < batch.count; ++i)
        solver.eigen_of_any(n, a + i * square, pairs + 2 * i * n,
                            kVectors ? rows + i * square : nullptr, infos.first() + i);
      infos.check();
    }
    expect_real(batch, pairs);
    for_each(batch.stream, kTag, batch.count * n, TakeReal<T>{pairs, arrays.out(0), n});
    if constexpr (kVectors)
      for_each(batch.stream, kTag, in.size(), Transpose<T>{rows, arrays.out(1), n, n});
  });
}

// Of p = v^T dv and q = v^T v.
template <class T>
struct GeneralMiddle {
  const T *p, *q, *w, *dw;
  T* out;
  int64_t n;
  MX_DEVICE void operator()(int64_t at) const {
    const int64_t matrix = at / (n * n), i = at / n % n, j = at % n;
    const T gap = w[matrix * n + j] - w[matrix * n + i];
    const T value = p[at] - q[at] * p[(matrix * n + j) * n + j];
    out[at] = i == j ? dw[matrix * n + i] : gap == T(0) ? T(0) : value / gap;
  }
};
void general_middle(const void*, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Batch<T> batch(context, kTag, in);
    const int64_t n = batch.n, size = in.size();
    const T *dv = arrays.in(0), *dw = arrays.in(1), *v = arrays.in(2), *w = arrays.in(3);
    T *p = batch.scratch(size), *q = batch.scratch(size);
    batch.multiply(true, false, n, n, n, v, dv, p);
    batch.multiply(true, false, n, n, n, v, v, q);
    for_each(batch.stream, kTag, size, GeneralMiddle<T>{p, q, w, dw, arrays.out(0), n});
  });
}

bool by_solver(const void*, const Signature&) { return has_solver(); }

}  // namespace

void add_eigen(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"_npi_eig", general<true>, by_solver});
  rows->push_back({"_npi_eigvals", general<false>, by_solver});
  rows->push_back({"_backward_npi_eig_middle", general_middle, nullptr});
}

}  // namespace cuda
}  // namespace mxnet
