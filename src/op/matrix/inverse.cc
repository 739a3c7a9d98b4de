// SPDX-License-Identifier: Apache-2.0
// Inverses and determinants from the LU factors of batches of matrices.
#include <cmath>

#include "base/error.h"
#include "base/numpy_shape.h"
#include "op/matrix/la_op.h"
#include "op/products/matrix_batches.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

void infer_inverse(const NoParams&, Infer& infer) {
  infer.in(0).same_as(infer.out(0));
  infer_matrix(infer, 0, true);
}

void inverse_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = matrix_rows(in), batch = batch_size(in.shape());
    T* y = tensors.copy_to(0, tensors.out(0));
    auto* pivots = context.workspace_of<int32_t>(batch * n);
    for_matrices(batch, cubic(n), "_linalg_inverse", "given a singular matrix",
                 [&](int64_t first, int64_t count) {
                   return matrix_batches::invert(n, count, y + first * n * n, pivots + first * n);
                 });
  });
}

MX_OP(_linalg_inverse, NoParams)
.doc("Inverses of matrices.")
    .alias("_npi_inv")
    .alias("linalg_inverse")
    .input("A", "Batch of square matrices.")
    .lenient()
    .dtypes(kFloating)
    .inplace(0, 0)
    .infer(infer_inverse)
    .cpu(inverse_cpu)
    .grad([](const NoParams&, Grad& grad) {
      const Value b = grad.out(0);
      const Value left = apply("_linalg_gemm2", {b, grad.dout(0)}, {{"transpose_a", "1"}});
      return Gradients{apply("_linalg_gemm2", {left, b}, {{"transpose_b", "1"}, {"alpha", "-1"}})};
    });
[[maybe_unused]] const bool waits = mark_waiting({"_linalg_inverse"});

// ---- Determinants: also the factors and pivots, hidden, for the gradient ----

// `results` numbers per matrix before the factors. Outside of NumPy's shapes a single matrix gives
// shape (1,): the array of the batch has no dimensions of its own there.
void infer_determinant(Infer& infer, int results) {
  infer.out(results).same_as(infer.in(0));
  infer.out(results + 1).set_dtype(DType::kInt32);
  for (int i = 0; i < results; ++i) infer.out(i).same_dtype(infer.in(0));
  if (!infer_matrix(infer, 0, true)) return;
  const Shape& shape = infer.in(0).shape();
  const Shape batch = batch_shape(shape);
  for (int i = 0; i < results; ++i)
    infer.out(i).set_shape(batch.ndim() == 0 && !is_numpy_shape() ? Shape{1} : batch);
  infer.out(results + 1).set_shape(batch_shape(shape, 1));
}

// Factors into `factors` and the last output; fn(i, factors, sign) for each matrix, where the sign
// is that of the determinant.
template <class T, class F>
void factorise(T* factors, KernelContext& context, const F& fn) {
  const int64_t n = matrix_rows(context.in(0)), batch = batch_size(context.in(0).shape());
  auto* pivots = context.out(context.num_out() - 1).as<int32_t>();
  parallel_for(
      batch, cubic(n),
      [&](int64_t first, int64_t last) {
        // A zero pivot: the determinant is zero.
        matrix_batches::factorise(n, last - first, factors + first * n * n, pivots + first * n);
        for (int64_t b = first; b < last; ++b) {
          const T* lu = factors + b * n * n;
          double sign = 1.0;
          for (int64_t i = 0; i < n; ++i) {
            const T pivot = lu[i * n + i];
            if (pivots[b * n + i] != i + 1) sign = -sign;
            sign = pivot == T{0} ? 0.0 : (pivot < T{0} ? -sign : sign);
          }
          fn(b, lu, sign);
        }
      },
      1);
}

void det_cpu(const NoParams&, KernelContext& context) {
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = matrix_rows(context.in(0));
    T *det = tensors.out(0), *factors = tensors.copy_to(0, tensors.out(1));
    factorise(factors, context, [&](int64_t b, const T* lu, double sign) {
      double product = sign;
      for (int64_t i = 0; i < n; ++i) product *= std::abs(static_cast<double>(lu[i * n + i]));
      det[b] = static_cast<T>(product);
    });
  });
}

void slogdet_cpu(const NoParams&, KernelContext& context) {
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = matrix_rows(context.in(0));
    T *signs = tensors.out(0), *logs = tensors.out(1);
    T* factors = tensors.copy_to(0, tensors.out(2));
    factorise(factors, context, [&](int64_t b, const T* lu, double sign) {
      double log = 0.0;
      for (int64_t i = 0; i < n; ++i) log += std::log(std::abs(static_cast<double>(lu[i * n + i])));
      signs[b] = static_cast<T>(sign);
      logs[b] = static_cast<T>(log);
    });
  });
}

// Those of a matrix of n rows: LAPACK would follow any.
void check_pivots(const Tensor& pivots, int64_t n) {
  for (int64_t i = 0; i < pivots.size(); ++i) {
    const int64_t row = pivots.as<int32_t>()[i];
    if (row >= 1 && row <= n) continue;
    throw Error(ErrorCode::kIndex,
                fmt::format("given row {} in 'pivots', expected one from 1 to {}", row, n));
  }
}

// The transposed inverse from factors; zeros for a singular matrix, whose gradient is taken as
// zero.
void inverse_transposed_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = matrix_rows(in);
    T* y = tensors.copy_to(0, tensors.out(0));
    const auto* pivots = context.in(1).as<int32_t>();
    check_pivots(context.in(1), n);
    parallel_for(
        batch_size(in.shape()), cubic(n),
        [&](int64_t first, int64_t last) {
          for (int64_t b = first; b < last; ++b) {
            T* a = y + b * n * n;
            if (blas::getri(n, a, pivots + b * n) != 0) {
              std::fill_n(a, n * n, T{0});
              continue;
            }
            for (int64_t i = 0; i < n; ++i) {
              for (int64_t j = 0; j < i; ++j) std::swap(a[i * n + j], a[j * n + i]);
            }
          }
        },
        1);
  });
}

MX_OP(_backward_linalg_inverse_transposed, NoParams)
.doc("Transposed inverses of matrices that are given by their factors.")
    .input("LU", "Factors.")
    .input("pivots", "Exchanges of rows.")
    .dtypes(kFloating | DTypeSet::of(DType::kInt32))
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_as(infer.out(0));
      infer.in(1).set_dtype(DType::kInt32);
      if (infer_matrix(infer, 0, true)) infer.in(1).set_shape(batch_shape(infer.in(0).shape(), 1));
    })
    .cpu(inverse_transposed_cpu);

// `first` is the output that holds the factors.
Value inverse_transposed(Grad& grad, int first) {
  if (!grad.differentiable())
    return apply("_backward_linalg_inverse_transposed", {grad.out(first), grad.out(first + 1)});
  return apply("_npi_einsum", {apply("_linalg_inverse", {grad.in(0)})},
               {{"subscripts", "...ij->...ji"}});
}

MX_OP(_linalg_det, NoParams)
.doc("Determinants of matrices.")
    .alias("_npi_det")
    .alias("linalg_det")
    .input("A", "Batch of square matrices.")
    .outputs([](const NoParams&) { return 3; })
    .visible_outputs([](const NoParams&) { return 1; })
    .lenient()
    .dtypes(kFloating)
    .infer([](const NoParams&, Infer& infer) { infer_determinant(infer, 1); })
    .cpu(det_cpu)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{apply("_backward_linalg_scale",
                             {grad.dout(0) * grad.out(0), inverse_transposed(grad, 1)})};
    });

MX_OP(_linalg_slogdet, NoParams)
.doc("Signs and logarithms of the absolute values of determinants.")
    .alias("_npi_slogdet")
    .alias("linalg_slogdet")
    .input("A", "Batch of square matrices.")
    .outputs([](const NoParams&) { return 4; })
    .visible_outputs([](const NoParams&) { return 2; })
    .lenient()
    .dtypes(kFloating)
    .infer([](const NoParams&, Infer& infer) { infer_determinant(infer, 2); })
    .cpu(slogdet_cpu)
    .grad([](const NoParams&, Grad& grad) {
      if (!grad.has_dout(1)) return Gradients{Value()};
      return Gradients{
          apply("_backward_linalg_scale", {grad.dout(1), inverse_transposed(grad, 2)})};
    });

// For factors of large matrices, and for what the library allocates there.
[[maybe_unused]] const bool factors_wait =
    mark_waiting({"_linalg_det", "_linalg_slogdet", "_backward_linalg_inverse_transposed"});

}  // namespace
}  // namespace mxnet
