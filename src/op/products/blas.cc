// SPDX-License-Identifier: Apache-2.0
// The only file that names OpenBLAS. A row-major matrix is the transpose of a column-major one:
// LAPACK is called on that, so that nothing is copied to turn it.
#include "op/products/blas.h"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "op/products/general_eigen.h"
#include "op/products/lu_factors.h"
#include "op/products/row_reflections.h"
#include "op/products/singular_vectors.h"

#define MX_JOIN_(a, b) a##b
#define MX_JOIN(a, b) MX_JOIN_(a, b)
#define MX_CBLAS(type, name) MX_JOIN(MXNET_BLAS_PREFIX, cblas_##type##name)
#define MX_LAPACK(type, name) MX_JOIN(MXNET_BLAS_PREFIX, LAPACKE_##type##name)

namespace mxnet::blas {
namespace {

// Before the first call: one thread, and no search for NaN in every argument.
[[maybe_unused]] const bool configured = [] {
  MX_JOIN(MXNET_BLAS_PREFIX, openblas_set_num_threads)(1);
  MX_JOIN(MXNET_BLAS_PREFIX, LAPACKE_set_nancheck)(0);
  return true;
}();

// Its integers have 32 bits. (What throws is by itself: products of 4 x 4 feel the questions.)
[[noreturn, gnu::noinline, gnu::cold]] void fail_narrow() {
  throw Error(ErrorCode::kValue, "linalg", "a matrix has more than 2^31 - 1 rows or columns");
}
inline lapack_int narrow(int64_t value) {
  if (value > std::numeric_limits<lapack_int>::max()) fail_narrow();
  return static_cast<lapack_int>(value);
}
lapack_int leading(int64_t value) { return narrow(std::max<int64_t>(value, 1)); }

CBLAS_TRANSPOSE op(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }
// The triangle as the transposed matrix has it.
char triangle(bool lower) { return lower ? 'U' : 'L'; }

// Iterations that look for eigenvalues and singular values need not end where a number is not
// finite, so such a matrix does not get there: with NaN it has none ("did not converge"), with
// infinities they are all NaN.
enum class Content { kFinite, kInfinite, kNan };
constexpr int kNotConverged = 1;

template <class T>
Content content(const T* a, int64_t count) {
  T sum{0};  // of zeros, if all numbers are finite
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += a[i] * T{0};
  if (sum == T{0}) return Content::kFinite;
  const bool nan = std::any_of(a, a + count, [](T x) { return std::isnan(x); });
  return nan ? Content::kNan : Content::kInfinite;
}

// Of what counts in a symmetric matrix of which one triangle is given.
template <class T>
Content triangle_content(bool lower, int64_t n, const T* a) {
  Content worst = Content::kFinite;
  for (int64_t i = 0; i < n; ++i) {
    const T* row = a + i * n;
    worst = std::max(worst, lower ? content(row, i + 1) : content(row + i, n - i));
  }
  return worst;
}

// Results for a matrix that is not finite, and the info to return.
template <class T>
struct Result {
  T* numbers;
  int64_t rows, columns;
};
template <class T>
int without_iterating(Content found, std::initializer_list<Result<T>> results) {
  if (found == Content::kNan) return kNotConverged;
  for (const Result<T>& result : results)
    std::fill_n(result.numbers, result.rows * result.columns, std::numeric_limits<T>::quiet_NaN());
  return 0;
}

}  // namespace

bool has_wide_loops() {
  static const bool wide = [] {
    const std::string_view core = MX_JOIN(MXNET_BLAS_PREFIX, openblas_get_corename)();
    const auto with = {"SkylakeX", "Cooperlake", "SapphireRapids"};
    return std::find(with.begin(), with.end(), core) != with.end();
  }();
  return wide;
}

// b = alpha * a b with a triangular matrix a.
#define MX_TRIANGULAR(T, t, name)                                                              \
  void name(bool right, bool lower, bool transpose, int64_t m, int64_t n, T alpha, const T* a, \
            T* b) {                                                                            \
    MX_CBLAS(t, name)                                                                          \
    (CblasRowMajor, right ? CblasRight : CblasLeft, lower ? CblasLower : CblasUpper,           \
     op(transpose), CblasNonUnit, narrow(m), narrow(n), alpha, a, leading(right ? n : m), b,   \
     leading(n));                                                                              \
  }
#define MX_DEFINE(T, t)                                                                            \
  void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, T alpha,          \
            const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {         \
    if (m == 1 && n == 1 && k > 0) {                                                               \
      const T product = MX_CBLAS(t, dot)(narrow(k), a, transpose_a ? leading(lda) : 1, b,          \
                                         transpose_b ? 1 : leading(ldb));                          \
      *c = beta == T(0) ? alpha * product : alpha * product + beta * *c;                           \
    } else if (n == 1 && k > 0) { /* a vector: memory is what counts, and gemv is made for that */ \
      MX_CBLAS(t, gemv)                                                                            \
      (CblasRowMajor, op(transpose_a), narrow(transpose_a ? k : m), narrow(transpose_a ? m : k),   \
       alpha, a, leading(lda), b, transpose_b ? 1 : leading(ldb), beta, c, leading(ldc));          \
    } else if (m == 1 && k > 0) {                                                                  \
      MX_CBLAS(t, gemv)                                                                            \
      (CblasRowMajor, op(!transpose_b), narrow(transpose_b ? n : k), narrow(transpose_b ? k : n),  \
       alpha, b, leading(ldb), a, transpose_a ? leading(lda) : 1, beta, c, 1);                     \
    } else {                                                                                       \
      MX_CBLAS(t, gemm)                                                                            \
      (CblasRowMajor, op(transpose_a), op(transpose_b), narrow(m), narrow(n), narrow(k), alpha, a, \
       leading(lda), b, leading(ldb), beta, c, leading(ldc));                                      \
    }                                                                                              \
  }                                                                                                \
  MX_TRIANGULAR(T, t, trmm)                                                                        \
  void trsm(bool right, bool lower, bool transpose, int64_t m, int64_t n, T alpha, const T* a,     \
            T* b) {                                                                                \
    if (alpha == T(0)) return void(std::fill_n(b, m * n, T(0)));                                   \
    solve_triangular_by_halves({right, lower, transpose}, m, n, alpha, a, right ? n : m, b, n);    \
  }                                                                                                \
  int potrf(bool lower, int64_t n, T* a) {                                                         \
    return MX_LAPACK(t, potrf)(LAPACK_COL_MAJOR, triangle(lower), narrow(n), a, leading(n));       \
  }                                                                                                \
  int getrf(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots) {                            \
    return MX_LAPACK(t, getrf)(LAPACK_COL_MAJOR, narrow(m), narrow(n), a, leading(lda), pivots);   \
  }                                                                                                \
  int getri(int64_t n, T* a, const int32_t* pivots) {                                              \
    return MX_LAPACK(t, getri)(LAPACK_COL_MAJOR, narrow(n), a, leading(n), pivots);                \
  }                                                                                                \
  int syevd(bool lower, bool vectors, int64_t n, T* a, T* w) {                                     \
    const Content found = triangle_content(lower, n, a);                                           \
    if (found != Content::kFinite) return without_iterating<T>(found, {{a, n, n}, {w, 1, n}});     \
    if (n == 1) {                                                                                  \
      w[0] = a[0];                                                                                 \
      if (vectors) a[0] = 1;                                                                       \
      return 0;                                                                                    \
    }                                                                                              \
    if (find_eigenvectors(lower, vectors, n, a, w)) return 0;                                      \
    return MX_LAPACK(t, syevd)(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', triangle(lower), narrow(n),  \
                               a, leading(n), w);                                                  \
  }                                                                                                \
  int geev(int64_t n, T* a, T* real, T* imaginary, T* v) {                                         \
    if (content(a, n * n) != Content::kFinite) return kNotConverged;                               \
    if (find_general_eigenvectors(n, a, real, imaginary, v)) return 0;                             \
    /* Left eigenvectors of the transpose are the right ones of a. */                              \
    return MX_LAPACK(t, geev)(LAPACK_COL_MAJOR, v == nullptr ? 'N' : 'V', 'N', narrow(n), a,       \
                              leading(n), real, imaginary, v, leading(n), nullptr, 1);             \
  }                                                                                                \
  int gelqf(int64_t m, int64_t n, T* a, T* l) {                                                    \
    std::vector<T> tau(static_cast<std::size_t>(std::max<int64_t>(m, 1)));                         \
    int info =                                                                                     \
        MX_LAPACK(t, geqrf)(LAPACK_COL_MAJOR, narrow(n), narrow(m), a, leading(n), tau.data());    \
    if (info != 0) return info;                                                                    \
    for (int64_t i = 0; i < m; ++i) {                                                              \
      std::copy_n(a + i * n, i + 1, l + i * m);                                                    \
      /* Of an infinite length comes a reflection of NaN: the row's, too, is none. */              \
      if (std::isnan(tau[static_cast<std::size_t>(i)]))                                            \
        l[i * m + i] = std::numeric_limits<T>::quiet_NaN();                                        \
      std::fill(l + i * m + i + 1, l + (i + 1) * m, T{0});                                         \
    }                                                                                              \
    return MX_LAPACK(t, orgqr)(LAPACK_COL_MAJOR, narrow(n), narrow(m), narrow(m), a, leading(n),   \
                               tau.data());                                                        \
  }                                                                                                \
  int gesdd(int64_t m, int64_t n, T* a, T* u, T* s, T* v) {                                        \
    const int64_t least = std::min(m, n);                                                          \
    const Content found = content(a, m * n);                                                       \
    if (found != Content::kFinite)                                                                 \
      return without_iterating<T>(found, {{u, m, least}, {s, 1, least}, {v, least, n}});           \
    if (find_singular_vectors(m, n, a, u, s, v)) return 0;                                         \
    return MX_LAPACK(t, gesdd)(LAPACK_COL_MAJOR, 'S', narrow(n), narrow(m), a, leading(n), s, v,   \
                               leading(n), u, leading(least));                                     \
  }
MX_DEFINE(float, s)
MX_DEFINE(double, d)
#undef MX_DEFINE
#undef MX_TRIANGULAR

}  // namespace mxnet::blas
