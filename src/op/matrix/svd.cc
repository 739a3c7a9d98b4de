// SPDX-License-Identifier: Apache-2.0
// Singular values, the pseudo-inverse, and the LQ factors.
#include "op/matrix/eigen.h"
#include "op/matrix/la_op.h"
#include "op/products/matrix_batches.h"
#include "op/products/products.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

// The wide form only, as both operators have it: no more rows than columns.
bool infer_wide(Infer& infer) {
  infer.one_dtype();
  if (!infer_matrix(infer, 0, false)) return false;
  const Shape& shape = infer.in(0).shape();
  if (shape.back() >= 0 && shape[shape.ndim() - 2] > shape.back())
    infer.in(0).fail("no more rows than columns");
  return true;
}

// ---- a = u diag(s) v ----

void infer_svd(const NoParams&, Infer& infer) {
  infer.in(0).same_as(infer.out(2));
  if (!infer_wide(infer)) return;
  const Shape shape = infer.in(0).shape();
  const int64_t m = shape[shape.ndim() - 2];
  infer.out(0).set_shape(with_matrix(shape, m, m));
  infer.out(1).set_shape(batch_shape(shape, 1));
}

void svd_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t m = matrix_rows(in), n = matrix_columns(in);
    T *a = tensors.copy(0), *u = tensors.out(0), *s = tensors.out(1), *v = tensors.out(2);
    for_each_matrix(batch_size(in.shape()), 20 * cubic(n), "_npi_svd", "did not converge",
                    [&](int64_t i) {
                      T *left = u + i * m * m, *right = v + i * m * n;
                      const int info = blas::gesdd(m, n, a + i * m * n, left, s + i * m, right);
                      for (int64_t k = 0; k < m; ++k) {
                        if (!points_down(right + k * n, n)) continue;
                        negate(right + k * n, n);
                        negate(left + k, m, m);
                      }
                      return info;
                    });
  });
}

// da = u ((k - s^-1 q^T) v + s^-1 dv), k = f (p - p^T) s + s f (q - q^T) + diag(ds), p = u^T du,
// q = v dv^T, f_ij = 1 / (s_j^2 - s_i^2).
template <class T>
void svd_gradient(int64_t m, int64_t n, const T* du, const T* ds, const T* dv, const T* u,
                  const T* s, const T* v, T* scratch, T* da) {
  T *p = scratch, *q = p + m * m, *k = q + m * m, *inner = k + m * m;
  multiply_here(true, false, m, m, m, T{1}, u, m, du, m, T{0}, p, m);
  multiply_here(false, true, m, m, n, T{1}, v, n, dv, n, T{0}, q, m);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      const T gap = (s[j] - s[i]) * (s[j] + s[i]);
      const T f = i == j || gap == T{0} ? T{0} : 1 / gap;
      k[i * m + j] =
          f * ((p[i * m + j] - p[j * m + i]) * s[j] + s[i] * (q[i * m + j] - q[j * m + i])) +
          (i == j ? ds[i] : T{0}) - (s[i] == T{0} ? T{0} : q[j * m + i] / s[i]);
    }
    for (int64_t j = 0; j < n; ++j) inner[i * n + j] = s[i] == T{0} ? T{0} : dv[i * n + j] / s[i];
  }
  multiply_here(false, false, m, n, m, T{1}, k, m, v, n, T{1}, inner, n);
  multiply_here(false, false, m, n, m, T{1}, u, m, inner, n, T{0}, da, n);
}

void svd_backward_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(2);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t m = matrix_rows(in), n = matrix_columns(in), batch = batch_size(in.shape());
    const T *du = tensors.in(0), *ds = tensors.in(1), *dv = tensors.in(2);
    const T *u = tensors.in(3), *s = tensors.in(4), *v = tensors.in(5);
    T* da = tensors.out(0);
    const int64_t scratch_size = 3 * m * m + m * n;
    T* scratch = context.workspace_of<T>(batch * scratch_size);
    for_each_matrix(batch, 5 * cubic(n), "_npi_svd", "", [&](int64_t i) {
      svd_gradient(m, n, du + i * m * m, ds + i * m, dv + i * m * n, u + i * m * m, s + i * m,
                   v + i * m * n, scratch + i * scratch_size, da + i * m * n);
      return 0;
    });
  });
}

MX_OP(_npi_svd, NoParams)
.doc("Singular value decomposition of matrices with no more rows than columns.")
    .input("A", "Batch of matrices.")
    .outputs([](const NoParams&) { return 3; })
    .lenient()
    .dtypes(kFloating)
    .infer(infer_svd)
    .cpu(svd_cpu)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{apply("_backward_npi_svd", {grad.dout(0), grad.dout(1), grad.dout(2),
                                                   grad.out(0), grad.out(1), grad.out(2)})};
    });

MX_OP(_backward_npi_svd, NoParams)
.doc("Gradient of _npi_svd.")
    .input("head_u", "Gradient of u.")
    .input("head_s", "Gradient of s.")
    .input("head_v", "Gradient of v.")
    .input("u", "Left factors.")
    .input("s", "Singular values.")
    .input("v", "Right factors.")
    .dtypes(kFloating)
    .infer([](const NoParams&, Infer& infer) {
      infer.one_dtype();
      // The last output of the forward call has the shape of its input.
      infer.follow(infer_svd, NoParams(), {infer.in(5)}, {infer.in(3), infer.in(4), infer.in(5)});
      for (int i = 0; i < 3; ++i) infer.in(i).same_shape(infer.in(3 + i));
      infer.out(0).same_shape(infer.in(5));
    })
    .cpu(svd_backward_cpu);

// ---- Pseudo-inverse ----

void infer_pinv(const PinvParams& params, Infer& infer) {
  infer.one_dtype();
  if (!infer_matrix(infer, 0, params.hermitian)) return;
  const Shape shape = infer.in(0).shape();
  infer.out(0).set_shape(with_matrix(shape, shape.back(), shape[shape.ndim() - 2]));
  if (infer.num_in() == 1 || !shape.known() || !infer.in(1).known()) return;
  const Shape limits = infer.in(1).shape(), batch = batch_shape(shape);
  if (limits.size() == 1) return;
  for (int d = 1; d <= limits.ndim(); ++d) {
    const int64_t length = limits[limits.ndim() - d];
    if (d > batch.ndim() || (length != 1 && length != batch[batch.ndim() - d]))
      infer.in(1).fail("a shape that broadcasts to " + to_string(batch));
  }
}

// Which of the numbers that broadcast to a batch is that of matrix i.
int64_t limit_of(const Shape& limits, const Shape& batch, int64_t i) {
  int64_t at = 0, step = 1;
  for (int d = 1; d <= std::min(limits.ndim(), batch.ndim()); ++d) {
    const int64_t length = limits[limits.ndim() - d], size = batch[batch.ndim() - d];
    if (length > 1) at += i % size * step;
    step *= length;
    i /= size;
  }
  return at;
}

// da = -p^T g p^T + (1 - a p) g^T p p^T + p^T p g^T (1 - p a), for p and its gradient g.
Gradients gradient_pinv(const PinvParams&, Grad& grad) {
  const Value a = grad.in(0), p = grad.out(0), g = grad.dout(0);
  const auto product = [](const Value& x, const Value& y, const char* transposed = "transpose_a",
                          bool transpose = false) {
    return apply("_linalg_gemm2", {x, y}, {{transposed, transpose ? "1" : "0"}});
  };
  const Value inner = product(product(p, g, "transpose_a", true), p, "transpose_b", true);
  const Value left = product(product(g, p, "transpose_a", true), p, "transpose_b", true);
  const Value right = product(p, product(p, g, "transpose_b", true), "transpose_a", true);
  Gradients result(static_cast<std::size_t>(grad.num_in()));
  result[0] =
      (left - product(a, product(p, left))) + (right - product(product(right, p), a)) - inner;
  return result;
}

// Singular values at or below rcond times the largest count as zero; rcond is the parameter, or
// numbers that broadcast to the batch.
void pinv_cpu(const PinvParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t m = matrix_rows(in), n = matrix_columns(in), least = std::min(m, n);
    const int64_t batch = batch_size(in.shape());
    T *a = tensors.copy(0), *y = tensors.out(0);
    const T* rcond = context.num_in() > 1 ? tensors.in(1) : nullptr;
    const Shape limits = rcond == nullptr ? Shape{} : context.in(1).shape();
    const Shape shape = batch_shape(in.shape());
    const int64_t scratch_size = least * (m + n + 1);
    T* scratch = context.workspace_of<T>(batch * scratch_size);
    for_each_matrix(
        batch, 20 * cubic(std::max(m, n)), "_npi_pinv", "did not converge", [&](int64_t i) {
          T *u = scratch + i * scratch_size, *v = u + m * least, *s = v + least * n;
          const int info = blas::gesdd(m, n, a + i * m * n, u, s, v);
          if (info != 0) return info;
          const double limit = rcond == nullptr ? params.rcond : rcond[limit_of(limits, shape, i)];
          for (int64_t j = 0; j < least; ++j) {
            const bool counts = s[j] > static_cast<T>(limit * s[0]);
            for (int64_t c = 0; c < n; ++c) v[j * n + c] = counts ? v[j * n + c] / s[j] : T{0};
          }
          multiply_here(true, true, n, m, least, T{1}, v, n, u, least, T{0}, y + i * m * n, m);
          return 0;
        });
  });
}

MX_OP(_npi_pinv, PinvParams)
.doc("Pseudo-inverses of matrices.")
    .input("A", "Batch of matrices.")
    .input("rcond", "Limit of small singular values, relative to the largest.")
    .param("hermitian", &PinvParams::hermitian, false, "Whether A is symmetric.")
    .dtypes(kFloating)
    .infer(infer_pinv)
    .cpu(pinv_cpu)
    .grad(gradient_pinv);

MX_OP(_npi_pinv_scalar_rcond, PinvParams)
.doc("Pseudo-inverses of matrices.")
    .input("A", "Batch of matrices.")
    .param("rcond", &PinvParams::rcond, 1e-15,
           "Limit of small singular values, relative to the largest.")
    .type_text("double, optional, default=1.0000000000000001e-15")
    .param("hermitian", &PinvParams::hermitian, false, "Whether A is symmetric.")
    .dtypes(kFloating)
    .infer(infer_pinv)
    .cpu(pinv_cpu)
    .grad(gradient_pinv);

// ---- a = l q ----

void infer_gelqf(const NoParams&, Infer& infer) {
  infer.in(0).same_as(infer.out(0));
  if (!infer_wide(infer)) return;
  const Shape shape = infer.in(0).shape();
  const int64_t m = shape[shape.ndim() - 2];
  infer.out(1).set_shape(with_matrix(shape, m, m));
}

void gelqf_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t m = matrix_rows(in), n = matrix_columns(in);
    T *q = tensors.copy_to(0, tensors.out(0)), *l = tensors.out(1);
    const int64_t batch = batch_size(in.shape());
    for_matrices(batch, 2 * cubic(n), "_linalg_gelqf", "failed", [&](int64_t first, int64_t count) {
      return matrix_batches::lq(m, n, count, batch, q + first * m * n, l + first * m * m);
    });
  });
}

MX_OP(_linalg_gelqf, NoParams)
.doc("LQ factors, Q first, of matrices with no more rows than columns.")
    .alias("linalg_gelqf")
    .input("A", "Batch of matrices.")
    .outputs([](const NoParams&) { return 2; })
    .lenient()
    .dtypes(kFloating)
    .inplace(0, 0)
    .infer(infer_gelqf)
    .cpu(gelqf_cpu)
    .grad([](const NoParams&, Grad& grad) {
      // l^-T (dq + c q), where c mirrors the lower triangle of l^T dl - dq q^T.
      const Value q = grad.out(0), l = grad.out(1), dq = grad.dout(0);
      const Value dl = apply("_backward_linalg_triangle", {grad.dout(1)});
      const Value middle = apply("_linalg_gemm2", {l, dl}, {{"transpose_a", "1"}}) -
                           apply("_linalg_gemm2", {dq, q}, {{"transpose_b", "1"}});
      const Value mirrored = apply("_backward_linalg_half_symmetric", {middle}) * 2.0;
      return Gradients{apply("_linalg_trsm", {l, dq + apply("_linalg_gemm2", {mirrored, q})},
                             {{"transpose", "1"}})};
    });

// On GPUs, for LAPACK's info.
[[maybe_unused]] const bool waits =
    mark_waiting({"_linalg_gelqf", "_npi_pinv", "_npi_pinv_scalar_rcond", "_npi_svd"});

}  // namespace
}  // namespace mxnet
