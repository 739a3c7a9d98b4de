// SPDX-License-Identifier: Apache-2.0
// Triangular products and solves, and the Cholesky factor with what is computed from it.
#include "op/params/triangular.h"

#include <bit>
#include <type_traits>

#include "op/matrix/la_op.h"
#include "op/products/cholesky_factors.h"
#include "op/products/matrix_batches.h"
#include "op/products/products.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

void infer_triangular(const TriangularParams& params, Infer& infer) {
  infer.one_dtype();
  infer.in(1).same_shape(infer.out(0));
  InferArg a = infer.in(0), b = infer.in(1);
  if (!a.rank_known() && b.rank_known()) a.set_shape(Shape::unknown(b.ndim()));
  if (!infer_matrix(infer, 0, true) || !infer_matrix(infer, 1, false)) return;
  const int n = a.ndim(), side = params.rightside ? n - 1 : n - 2;
  if (b.ndim() != n) b.fail(fmt::format("{} dimensions", n));
  for (int i = 0; i + 2 < n; ++i) {
    b.set_dim(i, a.dim(i));
    a.set_dim(i, b.dim(i));
  }
  b.set_dim(side, a.dim(n - 1));
  for (int i : {n - 2, n - 1}) a.set_dim(i, b.dim(side));
}

template <bool solve, class T>
void triangular(const TriangularParams& params, int64_t m, int64_t n, const T* a, T* b) {
  const T alpha = static_cast<T>(params.alpha);
  if constexpr (solve) {
    blas::trsm(params.rightside, params.lower, params.transpose, m, n, alpha, a, b);
  } else {
    blas::trmm(params.rightside, params.lower, params.transpose, m, n, alpha, a, b);
  }
}

// alpha * op(A) B of many small matrices, or from the right, with the zeros of the whole matrix:
// BLAS would take a call for each. (It meets such zeros, too.) Whether they are many and small.
template <class T>
bool multiply_whole(const TriangularParams& params, const Tensor& b, LaTensors<T>& tensors,
                    KernelContext& context) {
  constexpr int64_t kMostRows = 32;
  const int64_t m = matrix_rows(b), n = matrix_columns(b), batch = batch_size(b.shape());
  const int64_t side = params.rightside ? n : m, square = side * side;
  if (batch == 1 || side > kMostRows) return false;
  T* const y = tensors.out(0);
  const T *const a = tensors.in(0), *from = tensors.in(1);
  if (from == y) from = tensors.copy(1);
  using Bits = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;
  Bits kept[kMostRows * kMostRows];
  for (int64_t i = 0; i < side; ++i) {
    for (int64_t j = 0; j < side; ++j)
      kept[i * side + j] = (params.lower ? j <= i : j >= i) ? ~Bits{0} : Bits{0};
  }
  T* const whole = context.workspace_of<T>(batch * square);
  parallel_for(batch, static_cast<double>(square) / 8, [&](int64_t first, int64_t last) {
    for (int64_t i = first * square; i < last * square; i += square) {
#pragma omp simd
      for (int64_t j = 0; j < square; ++j)
        whole[i + j] = std::bit_cast<T>(std::bit_cast<Bits>(a[i + j]) & kept[j]);
    }
  });
  const T alpha = static_cast<T>(params.alpha);
  if (params.rightside) {
    multiply_batch(false, params.transpose, m, n, side, batch, from, whole, y, alpha);
  } else {
    multiply_batch(params.transpose, false, m, n, side, batch, whole, from, y, alpha);
  }
  return true;
}

// B becomes alpha * op(A) B, or with the inverse of A. The rows of a product from the right do not
// depend on each other: a single matrix is split there.
template <bool solve>
void triangular_cpu(const TriangularParams& params, KernelContext& context) {
  const Tensor& b = context.in(1);
  if (b.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    if (!solve && multiply_whole(params, b, tensors, context)) return;
    const T* a = tensors.in(0);
    T* y = tensors.copy_to(1, tensors.out(0));
    const int64_t m = matrix_rows(b), n = matrix_columns(b), batch = batch_size(b.shape());
    const int64_t side = params.rightside ? n : m;
    const double cost = 0.125 * static_cast<double>(m * n) * static_cast<double>(side);
    const auto run = [&](int64_t i, int64_t row, int64_t rows) {
      triangular<solve>(params, rows, n, a + i * side * side, y + i * m * n + row * n);
    };
    if (batch == 1 && params.rightside) {
      parallel_for(m, cost / static_cast<double>(m),
                   [&](int64_t first, int64_t last) { run(0, first, last - first); });
    } else if (batch == 1) {
      run(0, 0, m);
    } else {
      parallel_for(
          batch, cost,
          [&](int64_t first, int64_t last) {
            for (int64_t i = first; i < last; ++i) run(i, 0, m);
          },
          1);
    }
  });
}

const char* flag(bool value) { return value ? "1" : "0"; }

Attrs triangular_attrs(const TriangularParams& p, bool transpose, double alpha) {
  return {{"transpose", flag(transpose)},
          {"rightside", flag(p.rightside)},
          {"lower", flag(p.lower)},
          {"alpha", scalar_text(alpha)}};
}

// What of the gradient of a full matrix is that of a triangular one.
Value triangle_of(const Value& matrix, bool lower) {
  return apply("_backward_linalg_triangle", {matrix}, {{"lower", flag(lower)}});
}

// The gradient of A where op(A) meets `left` (a gradient) and `right` (a value) as left right^T.
Value gradient_of_a(const TriangularParams& p, const Value& gradient, const Value& value,
                    double alpha) {
  // Left: dop(A) = gradient value^T; right: value^T gradient; transposed once more for op = ^T.
  const bool swapped = p.transpose;
  const Value& first = p.rightside == swapped ? gradient : value;
  const Value& second = p.rightside == swapped ? value : gradient;
  return triangle_of(
      apply("_linalg_gemm2", {first, second},
            {{p.rightside ? "transpose_a" : "transpose_b", "1"}, {"alpha", scalar_text(alpha)}}),
      p.lower);
}

Gradients gradient_trmm(const TriangularParams& p, Grad& grad) {
  Gradients result(2);
  const Value dy = grad.dout(0);
  if (grad.wants(0)) result[0] = gradient_of_a(p, dy, grad.in(1), p.alpha);
  if (grad.wants(1)) {
    result[1] = apply("_linalg_trmm", {grad.in(0), dy}, triangular_attrs(p, !p.transpose, p.alpha));
  }
  return result;
}

Gradients gradient_trsm(const TriangularParams& p, Grad& grad) {
  Gradients result(2);
  const Value solved =
      apply("_linalg_trsm", {grad.in(0), grad.dout(0)}, triangular_attrs(p, !p.transpose, 1.0));
  if (grad.wants(0)) result[0] = gradient_of_a(p, solved, grad.out(0), -1.0);
  if (grad.wants(1)) result[1] = solved * p.alpha;
  return result;
}

template <bool solve>
void define_triangular(const char* name, const char* alias, const char* doc) {
  OpBuilder<TriangularParams> op(name);
  op.alias(alias).doc(doc);
  op.input("A", "Batch of triangular matrices.").input("B", "Batch of matrices.");
  op.param("transpose", &TriangularParams::transpose, false, "Whether A is transposed.")
      .param("rightside", &TriangularParams::rightside, false, "Whether A stands on the right.")
      .param("lower", &TriangularParams::lower, true, "Whether A is lower triangular.")
      .param("alpha", &TriangularParams::alpha, 1.0, "Factor of the result.");
  op.dtypes(kFloating).inplace(1, 0).infer(infer_triangular).cpu(triangular_cpu<solve>);
  op.grad(solve ? gradient_trsm : gradient_trmm);
}

// ---- Cholesky ----

void infer_square(const LowerParams&, Infer& infer) {
  infer.in(0).same_as(infer.out(0));
  infer_matrix(infer, 0, true);
}

template <class Step>
void in_place(const LowerParams&, KernelContext& context, const char* tag, const char* failure,
              const Step& step) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = matrix_rows(in);
    T* y = tensors.copy_to(0, tensors.out(0));
    for_each_matrix(batch_size(in.shape()), cubic(n), tag, failure,
                    [&](int64_t i) { return step(n, y + i * n * n); });
  });
}

void potrf_cpu(const LowerParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = matrix_rows(in);
    T* y = tensors.copy_to(0, tensors.out(0));
    for_matrices(batch_size(in.shape()), cubic(n), "_linalg_potrf",
                 "given a matrix that is not positive definite", [&](int64_t first, int64_t count) {
                   return matrix_batches::cholesky(params.lower, n, count, y + first * n * n);
                 });
  });
}

void potri_cpu(const LowerParams& params, KernelContext& context) {
  in_place(params, context, "_linalg_potri", "given a singular triangular matrix",
           [&]<class T>(int64_t n, T* a) { return invert_by_cholesky(params.lower, n, a); });
}

// L of A = L L^T: L^-T phi(L^T dL) L^-1, symmetric, where phi keeps the lower triangle and halves
// the diagonal. With U = L^T likewise.
Gradients gradient_potrf(const LowerParams& params, Grad& grad) {
  const Value factor = grad.out(0);
  const Attrs inner = params.lower ? Attrs{{"transpose_a", "1"}} : Attrs{{"transpose_b", "1"}};
  const Value head = triangle_of(grad.dout(0), params.lower);
  const Value middle = apply("_backward_linalg_half_symmetric",
                             {apply("_linalg_gemm2", {factor, head}, inner)}, {{"lower", "1"}});
  // L^-T m L^-1 or U^-1 m U^-T.
  const auto solve = [&](const Value& b, bool right) {
    return apply("_linalg_trsm", {factor, b},
                 {{"lower", flag(params.lower)},
                  {"rightside", flag(right)},
                  {"transpose", flag(params.lower != right)}});
  };
  return {solve(solve(middle, false), true)};
}

// B = (L L^T)^-1: dL = -(B (dB + dB^T) L^-T)'s triangle; U likewise from the other side. A solve
// with the factor, not a product with B: B has the square of its condition.
Gradients gradient_potri(const LowerParams& params, Grad& grad) {
  const Value b = grad.out(0), dy = grad.dout(0);
  const auto product = [](const Value& x, const Value& y, const Attrs& attrs = {}) {
    return apply("_linalg_gemm2", {x, y}, attrs);
  };
  const Value middle = params.lower ? product(b, dy) + product(b, dy, {{"transpose_b", "1"}})
                                    : product(dy, b) + product(dy, b, {{"transpose_a", "1"}});
  const Value full = apply("_linalg_trsm", {grad.in(0), middle},
                           {{"lower", flag(params.lower)},
                            {"rightside", flag(params.lower)},
                            {"transpose", "1"},
                            {"alpha", "-1"}});
  return {triangle_of(full, params.lower)};
}

void define_cholesky(const char* name, const char* alias, const char* doc,
                     void (*kernel)(const LowerParams&, KernelContext&),
                     Gradients (*gradient)(const LowerParams&, Grad&)) {
  OpBuilder<LowerParams> op(name);
  if (alias != nullptr) op.alias(alias);
  op.doc(doc).input("A", "Batch of square matrices.");
  op.param("lower", &LowerParams::lower, true, "Whether the factor is lower triangular.")
      .unlisted();
  op.dtypes(kFloating).inplace(0, 0).infer(infer_square).cpu(kernel).grad(gradient);
}

// ---- Parts of matrices, for gradients ----

template <Part part, class T>
void take_part(bool lower, int64_t n, T* a) {
  if (part != Part::kTriangle) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        T &below = a[i * n + j], &above = a[j * n + i];
        below = above = part == Part::kFolded ? below + above : (lower ? below : above) / 2;
      }
      if (part == Part::kHalfSymmetric) a[i * n + i] /= 2;
    }
  }
  if (part != Part::kHalfSymmetric) clear_other_triangle(lower, n, a);
}

template <Part part>
void part_cpu(const LowerParams& params, KernelContext& context) {
  in_place(params, context, "_backward_linalg_triangle", "", [&]<class T>(int64_t n, T* a) {
    take_part<part>(params.lower, n, a);
    return 0;
  });
}

template <Part part>
void define_part(const char* name, const char* doc,
                 Gradients (*gradient)(const LowerParams&, Grad&)) {
  OpBuilder<LowerParams> op(name);
  op.doc(doc).input("A", "Batch of square matrices.");
  op.param("lower", &LowerParams::lower, true, "Which triangle counts.");
  op.dtypes(kFloating).inplace(0, 0).infer(infer_square).cpu(part_cpu<part>).grad(gradient);
}

Value part_of(const char* name, const Value& matrix, bool lower) {
  return apply(name, {matrix}, {{"lower", flag(lower)}});
}

[[maybe_unused]] const bool defined = [] {
  define_triangular<false>("_linalg_trmm", "linalg_trmm",
                           "Product with batches of triangular matrices.");
  define_triangular<true>("_linalg_trsm", "linalg_trsm",
                          "Solves systems with batches of triangular matrices.");
  define_cholesky("_linalg_potrf", "linalg_potrf", "Cholesky factor.", potrf_cpu, gradient_potrf);
  define_cholesky("_npi_cholesky", nullptr, "Cholesky factor.", potrf_cpu, gradient_potrf);
  define_cholesky("_linalg_potri", "linalg_potri",
                  "Inverse of a matrix that is given by its Cholesky factor.", potri_cpu,
                  gradient_potri);
  mark_waiting({"_linalg_potrf", "_npi_cholesky"});
  // Large ones are the library's, which allocates: not in the middle of a recording.
  mark_waiting({"_linalg_trsm", "_linalg_potri"});
  define_part<Part::kTriangle>("_backward_linalg_triangle",
                               "One triangle of a matrix, zero elsewhere.",
                               [](const LowerParams& params, Grad& grad) {
                                 return Gradients{triangle_of(grad.dout(0), params.lower)};
                               });
  // The next two are each other's adjoint, up to a factor of two.
  define_part<Part::kHalfSymmetric>(
      "_backward_linalg_half_symmetric",
      "Half of one triangle, and its mirror image; half of the diagonal.",
      [](const LowerParams& params, Grad& grad) {
        return Gradients{part_of("_backward_linalg_fold_triangle", grad.dout(0), params.lower) *
                         0.5};
      });
  define_part<Part::kFolded>(
      "_backward_linalg_fold_triangle",
      "One triangle to which the mirror image of the other is added.",
      [](const LowerParams& params, Grad& grad) {
        return Gradients{part_of("_backward_linalg_half_symmetric", grad.dout(0), params.lower) *
                         2.0};
      });
  return true;
}();

}  // namespace
}  // namespace mxnet
