// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors, of symmetric and of general matrices.
#include <cmath>

#include "base/error.h"
#include "op/matrix/eigen.h"
#include "op/matrix/la_op.h"
#include "op/products/products.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

void transpose_square(int64_t n, auto* a) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) std::swap(a[i * n + j], a[j * n + i]);
  }
}

// Outputs of an operator: which one holds vectors (-1: none) and which one values.
template <int vectors, int values>
void infer_eigen(Infer& infer) {
  if constexpr (vectors >= 0) {
    infer.in(0).same_shape(infer.out(vectors));
    infer_real(infer.in(0), infer.out(vectors));
  }
  infer_real(infer.in(0), infer.out(values));
  if (Shape matrices = infer.out(values).shape();
      matrices.ndim() > 0 && !infer.in(0).known()) {  // as many values as rows and columns
    matrices.push_back(matrices.back());
    infer.in(0).set_shape(matrices);
  }
  if (infer_matrix(infer, 0, true))
    infer.out(values).set_shape(batch_shape(infer.in(0).shape(), 1));
}

// Inputs: gradients of vectors and values, vectors, values; the result is as large as the vectors.
void infer_eigen_gradient(Infer& infer) {
  infer.one_dtype();
  infer.out(0).same_shape(infer.in(2));
  infer.in(0).same_shape(infer.in(2));
  infer.in(1).same_shape(infer.in(3));
  if (!infer_matrix(infer, 2, true)) return;
  for (int i : {1, 3}) infer.in(i).set_shape(batch_shape(infer.in(2).shape(), 1));
}

template <int vectors, int values, bool rows>
void symmetric_cpu(const EighParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = matrix_rows(in);
    T* w = tensors.out(values);
    T* u = vectors >= 0 ? tensors.copy_to(0, tensors.out(std::max(vectors, 0))) : tensors.copy(0);
    for_each_matrix(
        batch_size(in.shape()), 9 * cubic(n), "eigenvalues", "did not converge", [&](int64_t i) {
          T* a = u + i * n * n;
          const int info =
              blas::syevd(params.uplo == Triangle::kLower, vectors >= 0, n, a, w + i * n);
          if constexpr (vectors >= 0) {
            for (int64_t k = 0; k < n; ++k)
              if (points_down(a + k * n, n)) negate(a + k * n, n);
            if (!rows) transpose_square(n, a);
          }
          return info;
        });
  });
}

// With eigenvectors in the rows of u: u^T (diag(dw) + m) u, where m = (p - p^T) / (2 (w_j - w_i))
// and p = u du^T. Equal eigenvalues have no defined eigenvectors: they add nothing.
template <class T>
void symmetric_gradient(int64_t n, const T* du, const T* dw, const T* u, const T* w, T* scratch,
                        T* da) {
  T* p = scratch;
  multiply_here(false, true, n, n, n, T{1}, u, n, du, n, T{0}, p, n);
  for (int64_t i = 0; i < n; ++i) {
    p[i * n + i] = dw[i];
    for (int64_t j = 0; j < i; ++j) {
      const T gap = w[j] - w[i];
      const T m = gap == T{0} ? T{0} : (p[i * n + j] - p[j * n + i]) / (2 * gap);
      p[i * n + j] = p[j * n + i] = m;
    }
  }
  T* left = scratch + n * n;
  multiply_here(true, false, n, n, n, T{1}, u, n, p, n, T{0}, left, n);
  multiply_here(false, false, n, n, n, T{1}, left, n, u, n, T{0}, da, n);
}

void symmetric_backward_cpu(const EighParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = matrix_rows(in), batch = batch_size(in.shape());
    T *du = tensors.copy(0), *u = tensors.copy(2), *da = tensors.out(0);
    const T *dw = tensors.in(1), *w = tensors.in(3);
    T* scratch = context.workspace_of<T>(2 * batch * n * n);
    for_each_matrix(batch, 3 * cubic(n), "eigenvalues", "", [&](int64_t i) {
      const int64_t at = i * n * n;
      if (!params.rows) {
        transpose_square(n, du + at);
        transpose_square(n, u + at);
      }
      symmetric_gradient(n, du + at, dw + i * n, u + at, w + i * n, scratch + 2 * at, da + at);
      return 0;
    });
  });
}

Value symmetric_backward(const Value& du, const Value& dw, const Value& u, const Value& w,
                         bool rows) {
  return apply("_backward_linalg_eigh", {du, dw, u, w}, {{"rows", rows ? "1" : "0"}});
}

MX_OP(_backward_linalg_eigh, EighParams)
.doc("Gradient of the eigenvalues and eigenvectors of symmetric matrices.")
    .input("head_vectors", "Gradient of the eigenvectors.")
    .input("head_values", "Gradient of the eigenvalues.")
    .input("vectors", "Eigenvectors.")
    .input("values", "Eigenvalues.")
    .param("rows", &EighParams::rows, false, "Whether eigenvectors are rows.")
    .dtypes(kFloating)
    .infer([](const EighParams&, Infer& infer) { infer_eigen_gradient(infer); })
    .cpu(symmetric_backward_cpu);

MX_OP(_linalg_syevd, EighParams)
.doc("Eigenvectors, as rows, and eigenvalues of symmetric matrices.")
    .input("A", "Batch of symmetric matrices.")
    .outputs([](const EighParams&) { return 2; })
    .lenient()
    .dtypes(kFloating)
    .inplace(0, 0)
    .infer([](const EighParams&, Infer& infer) { infer_eigen<0, 1>(infer); })
    .cpu(symmetric_cpu<0, 1, true>)
    .grad([](const EighParams&, Grad& grad) {
      return Gradients{
          symmetric_backward(grad.dout(0), grad.dout(1), grad.out(0), grad.out(1), true)};
    });

OpBuilder<EighParams> declare_eigh(const char* name, const char* doc) {
  OpBuilder<EighParams> op(name);
  op.doc(doc).input("A", "Batch of symmetric matrices, of which one triangle is read.");
  op.choice<Triangle>("UPLO", &EighParams::uplo, {{"L", Triangle::kLower}, {"U", Triangle::kUpper}},
                      "L", "Which triangle is read.")
      .type_text(", optional, default=L")
      .dtypes(kNumeric);
  return op;
}

// Values and vectors of integers are floats: the gradient takes the type of the matrix again.
Gradients back_in_type(const Grad& grad, const Value& gradient) {
  return {grad.same_dtype(0) ? gradient : apply("_cast_like", {gradient, grad.in(0)})};
}

[[maybe_unused]] const auto eigh =
    declare_eigh("_npi_eigh", "Eigenvalues and eigenvectors, as columns, of symmetric matrices.")
        .outputs([](const EighParams&) { return 2; })
        .inplace(0, 1)
        .infer([](const EighParams&, Infer& infer) { infer_eigen<1, 0>(infer); })
        .cpu(symmetric_cpu<1, 0, false>)
        .grad([](const EighParams&, Grad& grad) {
          return back_in_type(grad, symmetric_backward(grad.dout(1), grad.dout(0), grad.out(1),
                                                       grad.out(0), false));
        });

[[maybe_unused]] const auto eigvalsh =
    declare_eigh("_npi_eigvalsh", "Eigenvalues of symmetric matrices.")
        .infer([](const EighParams&, Infer& infer) { infer_eigen<-1, 0>(infer); })
        .cpu(symmetric_cpu<-1, 0, false>)
        .grad([](const EighParams&, Grad& grad) {
          const Value w = apply("_npi_eigh", {grad.in(0)}, grad.attrs());
          const Value u = output(w, 1);
          return back_in_type(grad, symmetric_backward(zeros_like(u), grad.dout(0), u, w, false));
        });

// ---- General matrices ----

template <bool vectors>
void general_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = matrix_rows(in), batch = batch_size(in.shape());
    T *a = tensors.copy(0), *w = tensors.out(0);
    T* v = vectors ? tensors.out(vectors ? 1 : 0) : nullptr;
    T* imaginary = context.workspace_of<T>(batch * n);
    for_each_matrix(batch, 25 * cubic(n), "_npi_eig", "did not converge", [&](int64_t i) {
      T* mine = v == nullptr ? nullptr : v + i * n * n;
      const int info = blas::geev(n, a + i * n * n, w + i * n, imaginary + i * n, mine);
      if (mine != nullptr) transpose_square(n, mine);
      return info;
    });
    for (int64_t i = 0; i < batch * n; ++i) {
      if (imaginary[i] != T{0})
        throw Error(ErrorCode::kValue, "_npi_eig",
                    "given a matrix with complex eigenvalues, expected real ones");
    }
  });
}

// diag(dw) + f (v^T dv - v^T v diag(v^T dv)), f_ij = 1 / (w_j - w_i): what stands between v^-T and
// v^T in the gradient of a. The last term is there since eigenvectors keep their length.
void general_middle_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = matrix_rows(in), batch = batch_size(in.shape());
    const T *dv = tensors.in(0), *dw = tensors.in(1), *v = tensors.in(2), *w = tensors.in(3);
    T *m = tensors.out(0), *gram = context.workspace_of<T>(batch * n * n);
    for_each_matrix(batch, 2 * cubic(n), "_npi_eig", "", [&](int64_t b) {
      const int64_t at = b * n * n;
      T *p = m + at, *q = gram + at;
      multiply_here(true, false, n, n, n, T{1}, v + at, n, dv + at, n, T{0}, p, n);
      multiply_here(true, false, n, n, n, T{1}, v + at, n, v + at, n, T{0}, q, n);
      std::vector<T> diagonal(static_cast<std::size_t>(n));
      for (int64_t i = 0; i < n; ++i) diagonal[static_cast<std::size_t>(i)] = p[i * n + i];
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          const T gap = w[b * n + j] - w[b * n + i];
          const T value = p[i * n + j] - q[i * n + j] * diagonal[static_cast<std::size_t>(j)];
          p[i * n + j] = i == j ? dw[b * n + i] : (gap == T{0} ? T{0} : value / gap);
        }
      }
      return 0;
    });
  });
}

MX_OP(_backward_npi_eig_middle, NoParams)
.doc("The inner matrix of the gradient of _npi_eig.")
    .input("head_vectors", "Gradient of the eigenvectors.")
    .input("head_values", "Gradient of the eigenvalues.")
    .input("vectors", "Eigenvectors.")
    .input("values", "Eigenvalues.")
    .dtypes(kFloating)
    .infer([](const NoParams&, Infer& infer) { infer_eigen_gradient(infer); })
    .cpu(general_middle_cpu);

Value general_gradient(const Value& dv, const Value& dw, const Value& v, const Value& w) {
  const Value middle = apply("_backward_npi_eig_middle", {dv, dw, v, w});
  const Value left =
      apply("_linalg_gemm2", {apply("_linalg_inverse", {v}), middle}, {{"transpose_a", "1"}});
  return apply("_linalg_gemm2", {left, v}, {{"transpose_b", "1"}});
}

Gradients gradient_eig(const NoParams&, Grad& grad) {
  return back_in_type(grad, general_gradient(grad.dout(1), grad.dout(0), grad.out(1), grad.out(0)));
}
Gradients gradient_eigvals(const NoParams&, Grad& grad) {
  const Value w = apply("_npi_eig", {grad.in(0)});
  const Value v = output(w, 1);
  return back_in_type(grad, general_gradient(zeros_like(v), grad.dout(0), v, w));
}

template <bool vectors>
void define_general(const char* name, const char* doc) {
  OpBuilder<NoParams> op(name);
  op.doc(doc).input("A", "Batch of square matrices.").lenient().dtypes(kNumeric);
  if (vectors) op.outputs([](const NoParams&) { return 2; });
  op.infer([](const NoParams&, Infer& infer) { infer_eigen<vectors ? 1 : -1, 0>(infer); });
  op.cpu(general_cpu<vectors>).grad(vectors ? gradient_eig : gradient_eigvals);
}

[[maybe_unused]] const bool defined = [] {
  define_general<true>("_npi_eig", "Eigenvalues and eigenvectors, as columns, of matrices.");
  define_general<false>("_npi_eigvals", "Eigenvalues of matrices.");
  // On GPUs, for LAPACK's info.
  return mark_waiting({"_linalg_syevd", "_npi_eigh", "_npi_eigvalsh", "_npi_eig", "_npi_eigvals"});
}();

}  // namespace
}  // namespace mxnet
