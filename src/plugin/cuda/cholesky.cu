// SPDX-License-Identifier: Apache-2.0
// The Cholesky factor (op/matrix/triangular.cc), and numbers of whole matrices, such as the
// logarithm of the determinant that follows from it. A block of threads factors a small matrix,
// cuSOLVER others. One without a factor is an error, for which the host waits.
#include <optional>
#include <string>

#include "op/params/triangular.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/host_values.h"
#include "plugin/cuda/rounds.cuh"
#include "plugin/cuda/solver/solver.h"
#include "plugin/cuda/solver/solver_choice.h"

namespace mxnet {
namespace cuda {
namespace {

int64_t batch_of(const Tensor& matrices) { return matrices.shape().size(0, matrices.ndim() - 2); }

// --- the factor ----------------------------------------------------------------------------------

// In place, column after column; of the upper factor all is transposed.
template <class T>
struct FactoriseDefinite {
  T* matrices;
  int32_t* faults;  // of each matrix: the first column that has no factor, from 1; 0 = none
  int64_t n;
  bool lower;

  MX_DEVICE T& at(T* a, int64_t row, int64_t column) const {
    return lower ? a[row * n + column] : a[column * n + row];
  }
  MX_DEVICE int64_t rounds(int64_t) const { return 3 * n; }
  MX_DEVICE void round(int64_t matrix, int64_t round, int lane, int lanes) const {
    T* a = matrices + matrix * n * n;
    const int64_t k = round / 3, rest = n - k - 1;
    if (round % 3 == 0) {
      if (lane != 0) return;
      if (k == 0) faults[matrix] = 0;
      T& pivot = at(a, k, k);
      if (!(pivot > T(0)) && faults[matrix] == 0) faults[matrix] = static_cast<int32_t>(k + 1);
      pivot = row_words::sqrt(pivot);
    } else if (round % 3 == 1) {
      for (int64_t i = k + 1 + lane; i < n; i += lanes) at(a, i, k) /= at(a, k, k);
    } else {
      for (int64_t e = lane; e < rest * rest; e += lanes) {
        const int64_t i = k + 1 + e / rest, j = k + 1 + e % rest;
        if (j <= i) at(a, i, j) -= at(a, i, k) * at(a, j, k);
      }
    }
  }
};

template <class T>
struct ClearOther {
  T* matrices;
  int64_t n;
  bool lower;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / n % n, column = i % n;
    if (row != column && (row > column) != lower) matrices[i] = T(0);
  }
};

void potrf(const LowerParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  const int64_t n = in.shape().back(), batch = batch_of(in);
  auto* const faults = context.workspace_of<int32_t>(batch);
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T* const out = arrays.out(0);
    convert(arrays.stream(), in, {out, &in.shape(), dtype_of<T>});
    std::optional<Solver> solver;
    if (is_large_for_a_block(n, batch) && has_solver()) {
      solver.emplace(dtype_of<T>, context);
      for (int64_t i = 0; i < batch; ++i)
        solver->factor_definite(n, params.lower, out + i * n * n, faults + i);
    } else if (is_batch_for_library(n, batch) && has_solver()) {
      solver.emplace(dtype_of<T>, context);
      solver->factor_all_definite(n, batch, params.lower, out, faults);
    } else {
      for_each_in_rounds(arrays.stream(), "_linalg_potrf", batch,
                         FactoriseDefinite<T>{out, faults, n, params.lower});
    }
    for_each(arrays.stream(), "_linalg_potrf", in.size(), ClearOther<T>{out, n, params.lower});
    for (const int32_t info : host_values(context, faults, batch)) {
      if (info != 0)
        throw Error(
            ErrorCode::kValue, "_linalg_potrf",
            "given a matrix that is not positive definite (info " + std::to_string(info) + ")");
    }
  });
}

// --- a number for each matrix --------------------------------------------------------------------

template <class T>
struct SumOfLogs {
  const T* a;
  T* out;
  int64_t n;
  MX_DEVICE double part(int64_t matrix, int lane, int lanes) const {
    double sum = 0;
    for (int64_t i = lane; i < n; i += lanes)
      sum += row_words::log(static_cast<double>(a[(matrix * n + i) * n + i]));
    return sum;
  }
  MX_DEVICE double merge(double x, double y) const { return x + y; }
  MX_DEVICE void finish(int64_t matrix, double sum) const { out[matrix] = static_cast<T>(sum); }
};
void sum_log_diagonal(const void*, KernelContext& context) {
  const Tensor& in = context.in(0);
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    for_each_group(arrays.stream(), "_linalg_sumlogdiag", batch_of(in), false,
                   SumOfLogs<T>{arrays.in(0), arrays.out(0), in.shape().back()});
  });
}

template <class T>
struct ScaleMatrices {
  const T *factors, *a;
  T* out;
  int64_t size;
  MX_DEVICE void operator()(int64_t i) const { out[i] = factors[i / size] * a[i]; }
};
void scale_matrices(const void*, KernelContext& context) {
  const Tensor& a = context.in(1);
  if (a.size() == 0) return;
  compute(a.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    for_each(arrays.stream(), "_backward_linalg_scale", a.size(),
             ScaleMatrices<T>{arrays.in(0), arrays.in(1), arrays.out(0), a.size() / batch_of(a)});
  });
}

template <class T>
struct InnerProduct {
  const T *a, *b;
  T* out;
  int64_t size;
  MX_DEVICE double part(int64_t i, int lane, int lanes) const {
    double sum = 0;
    for (int64_t k = i * size + lane; k < (i + 1) * size; k += lanes)
      sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
    return sum;
  }
  MX_DEVICE double merge(double x, double y) const { return x + y; }
  MX_DEVICE void finish(int64_t i, double sum) const { out[i] = static_cast<T>(sum); }
};
void inner_products(const void*, KernelContext& context) {
  const Tensor &a = context.in(0), &out = context.out(0);
  if (out.size() == 0) return;
  compute(out.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const int64_t size = a.size() / out.size();
    for_each_group(arrays.stream(), "_backward_linalg_inner", out.size(), size >= 1024,
                   InnerProduct<T>{arrays.in(0), arrays.in(1), arrays.out(0), size});
  });
}

}  // namespace

void add_cholesky(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<LowerParams, potrf>("_linalg_potrf"));
  rows->push_back(kernel_row<LowerParams, potrf>("_npi_cholesky"));
  rows->push_back({"_linalg_sumlogdiag", sum_log_diagonal, nullptr});
  rows->push_back({"_backward_linalg_scale", scale_matrices, nullptr});
  rows->push_back({"_backward_linalg_inner", inner_products, nullptr});
}

}  // namespace cuda
}  // namespace mxnet
