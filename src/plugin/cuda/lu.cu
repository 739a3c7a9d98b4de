// SPDX-License-Identifier: Apache-2.0
// Factors of matrices with exchanged rows, and what follows from them: inverses, determinants and
// solutions of equations (op/matrix/inverse.cc, solve.cc). A block of threads factors a matrix;
// every right-hand side has a thread of its own. A singular matrix has no inverse and no solutions,
// which is an error: the host waits for the pivots.
#include <optional>
#include <string>

#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/host_values.h"
#include "plugin/cuda/rounds.cuh"
#include "plugin/cuda/solver/solver.h"
#include "plugin/cuda/solver/solver_choice.h"

namespace mxnet {
namespace cuda {
namespace {

int64_t side_of(const Tensor& square) { return square.shape().back(); }
int64_t batch_of(const Tensor& square) { return square.shape().size(0, square.ndim() - 2); }

// In place, as LAPACK has it: columns one after the other, so that the factors of a row-major
// matrix are those of its transpose; exchanges count from 1. A pivot of zero stays.
template <class T>
struct Factorise {
  T* matrices;
  int32_t* exchanges;
  int64_t n;

  MX_DEVICE int64_t rounds(int64_t) const { return 3 * n + 1; }
  MX_DEVICE void round(int64_t matrix, int64_t round, int lane, int lanes) const {
    T* a = matrices + matrix * n * n;
    int32_t* exchange = exchanges + matrix * n;
    const int64_t k = round / 3;
    T* column = a + k * n;
    if (round % 3 == 0) {
      // What the last step has used becomes factors.
      if (k > 0 && column[k - 1 - n] != T(0))
        for (int64_t i = k + lane; i < n; i += lanes) column[i - n] /= column[k - 1 - n];
      if (lane != 0 || k == n) return;
      int64_t best = k;
      for (int64_t i = k + 1; i < n; ++i)
        if (row_words::absolute(column[i]) > row_words::absolute(column[best])) best = i;
      exchange[k] = static_cast<int32_t>(best + 1);
    } else if (round % 3 == 1) {
      const int64_t other = exchange[k] - 1;
      for (int64_t j = lane; other != k && j < n; j += lanes) {
        const T kept = a[j * n + k];
        a[j * n + k] = a[j * n + other];
        a[j * n + other] = kept;
      }
    } else if (column[k] != T(0)) {
      const int64_t rest = n - k - 1;
      for (int64_t e = lane; e < rest * rest; e += lanes) {
        const int64_t i = k + 1 + e % rest, j = k + 1 + e / rest;
        a[j * n + i] -= column[i] / column[k] * a[j * n + k];
      }
    }
  }
};
template <class T>
void factorise(NativeStream* stream, T* matrices, int32_t* exchanges, int64_t batch, int64_t n) {
  for_each_in_rounds(stream, "linalg_lu", batch, Factorise<T>{matrices, exchanges, n});
}

// The first pivot of zero of each matrix, from 1; 0 = none.
template <class T>
struct FindZeroPivot {
  const T* lu;
  int32_t* found;
  int64_t n;
  MX_DEVICE void operator()(int64_t matrix) const {
    found[matrix] = 0;
    for (int64_t i = n - 1; i >= 0; --i)
      if (lu[matrix * n * n + i * n + i] == T(0)) found[matrix] = static_cast<int32_t>(i + 1);
  }
};
// The same of matrices that must be regular; large ones by cuSOLVER.
template <class T>
void factorise_regular(T* matrices, int32_t* exchanges, int64_t batch, int64_t n, const char* op,
                       KernelContext& context) {
  NativeStream* const stream = context.stream()->native();
  auto* const infos = context.workspace_of<int32_t>(batch);
  std::optional<Solver> solver;
  if (is_large_for_a_block(n, batch) && has_solver()) {
    solver.emplace(dtype_of<T>, context);
    auto* const wide = context.workspace_of<int64_t>(batch * n);
    for (int64_t i = 0; i < batch; ++i)
      solver->factor(n, matrices + i * n * n, wide + i * n, infos + i);
    const Shape all{batch * n};
    convert(stream, {wide, &all, DType::kInt64}, {exchanges, &all, DType::kInt32});
  } else {
    factorise(stream, matrices, exchanges, batch, n);
    for_each(stream, op, batch, FindZeroPivot<T>{matrices, infos, n});
  }
  for (const int32_t info : host_values(context, infos, batch)) {
    if (info != 0)
      throw Error(ErrorCode::kValue, op,
                  "given a singular matrix (info " + std::to_string(info) + ")");
  }
}

// One right-hand side, in place; elements are `step` apart.
template <class T>
struct Solver {
  const T* lu;
  const int32_t* exchanges;
  int64_t n;

  MX_DEVICE void operator()(int64_t matrix, T* x, int64_t step) const {
    const T* a = lu + matrix * n * n;
    const int32_t* exchange = exchanges + matrix * n;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t other = exchange[i] - 1;
      const T kept = x[i * step];
      x[i * step] = x[other * step];
      x[other * step] = kept;
    }
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j) x[i * step] -= a[j * n + i] * x[j * step];
    for (int64_t i = n - 1; i >= 0; --i) {
      for (int64_t j = i + 1; j < n; ++j) x[i * step] -= a[j * n + i] * x[j * step];
      x[i * step] /= a[i * n + i];
    }
  }
  MX_DEVICE bool is_singular(int64_t matrix) const {
    for (int64_t i = 0; i < n; ++i)
      if (lu[matrix * n * n + i * n + i] == T(0)) return true;
    return false;
  }
};

// Right-hand sides that are columns of the identity; the result lies row by row, or transposed.
template <class T>
struct Invert {
  Solver<T> solver;
  T* out;
  bool transposed, zeros_if_singular;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t n = solver.n, matrix = i / n, c = i - matrix * n;
    T* x = out + matrix * n * n + (transposed ? c : c * n);
    const int64_t step = transposed ? n : 1;
    for (int64_t k = 0; k < n; ++k) x[k * step] = k == c ? T(1) : T(0);
    if (!zeros_if_singular || !solver.is_singular(matrix))
      solver(matrix, x, step);
    else
      x[c * step] = T(0);
  }
};
template <class T>
struct SolveSides {
  Solver<T> solver;
  T* x;
  int64_t count;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t matrix = i / count;
    solver(matrix, x + matrix * solver.n * count + (i - matrix * count), count);
  }
};

template <class T>
T* copy_of(NativeStream* stream, const Tensor& from, KernelContext& context) {
  T* const copy = context.workspace_of<T>(from.size());
  convert(stream, from, {copy, &from.shape(), dtype_of<T>});
  return copy;
}

// --- inverses ------------------------------------------------------------------------------------

void invert(const char* op, KernelContext& context, int64_t batch, int64_t n) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    NativeStream* const stream = arrays.stream();
    T* const lu = copy_of<T>(stream, in, context);
    auto* const exchanges = context.workspace_of<int32_t>(batch * n);
    factorise_regular(lu, exchanges, batch, n, op, context);
    for_each(stream, op, batch * n, Invert<T>{{lu, exchanges, n}, arrays.out(0), false, false});
  });
}
void inverse(const void*, KernelContext& context) {
  invert("_linalg_inverse", context, batch_of(context.in(0)), side_of(context.in(0)));
}
// The joined dimensions are a square.
int64_t joined_side(const Tensor& array) {
  return static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(array.size()))));
}
void tensor_inverse(const void*, KernelContext& context) {
  invert("_npi_tensorinv", context, 1, joined_side(context.in(0)));
}

// Inputs: gradient of the inverse b, b, a (for its shape); da = -b^T db b^T.
void tensor_inverse_slope(const void*, KernelContext& context) {
  const int64_t n = joined_side(context.in(1));
  if (n == 0) return;
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const T *db = arrays.in(0), *b = arrays.in(1);
    T* const left = context.workspace_of<T>(n * n);
    const auto product = [&](bool transpose_a, bool transpose_b, const T* x, const T* y, T* to,
                             double alpha) {
      gemm(arrays.stream(),
           {.dtype = dtype_of<T>,
            .transpose_a = transpose_a,
            .transpose_b = transpose_b,
            .m = n,
            .n = n,
            .k = n,
            .a = x,
            .lda = n,
            .b = y,
            .ldb = n,
            .c = to,
            .ldc = n,
            .alpha = alpha},
           context);
    };
    product(true, false, b, db, left, -1);
    product(false, true, left, b, arrays.out(0), 1);
  });
}

// Inputs: factors, exchanges.
void inverse_transposed(const void*, KernelContext& context) {
  const Tensor& lu = context.in(0);
  if (lu.size() == 0) return;
  const int64_t n = side_of(lu);
  compute(lu.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    // The result may lie where the factors are.
    const T* factors = copy_of<T>(arrays.stream(), lu, context);
    for_each(arrays.stream(), "_linalg_inverse", batch_of(lu) * n,
             Invert<T>{{factors, context.in(1).as<int32_t>(), n}, arrays.out(0), true, true});
  });
}

// --- determinants --------------------------------------------------------------------------------

// Of each matrix its determinant, or the sign and the logarithm of the rest.
template <class T>
struct Determinant {
  const T* lu;
  const int32_t* exchanges;
  T *value, *sign, *log;
  int64_t n;
  MX_DEVICE void operator()(int64_t matrix) const {
    double sign_of = 1, product = 1, sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T pivot = lu[matrix * n * n + i * n + i];
      if (exchanges[matrix * n + i] != i + 1) sign_of = -sign_of;
      sign_of = pivot == T(0) ? 0.0 : pivot < T(0) ? -sign_of : sign_of;
      const double size = row_words::absolute(static_cast<double>(pivot));
      product *= size;
      if (log != nullptr) sum += row_words::log(size);
    }
    if (value != nullptr) value[matrix] = static_cast<T>(sign_of * product);
    if (sign != nullptr) sign[matrix] = static_cast<T>(sign_of);
    if (log != nullptr) log[matrix] = static_cast<T>(sum);
  }
};
// Outputs: one number or two for each matrix, then factors and exchanges.
template <int kResults>
void determinant(const void*, KernelContext& context) {
  const Tensor& in = context.in(0);
  const int64_t n = side_of(in), batch = batch_of(in);
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T* const first = arrays.out(0);
    T* const second = kResults == 2 ? arrays.out(1) : nullptr;
    T* const lu = arrays.out(kResults);
    auto* const exchanges = context.out(kResults + 1).template as<int32_t>();
    if (in.size() > 0) {
      convert(arrays.stream(), in, {lu, &in.shape(), dtype_of<T>});
      factorise(arrays.stream(), lu, exchanges, batch, n);
    }
    for_each(arrays.stream(), "_linalg_det", batch,
             Determinant<T>{lu, exchanges, kResults == 1 ? first : nullptr,
                            kResults == 2 ? first : nullptr, second, n});
  });
}

// --- equations -----------------------------------------------------------------------------------

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
  if (transposed)
    factorise(stream, lu, exchanges, batch, n);
  else
    factorise_regular(lu, exchanges, batch, n, "_npi_solve", context);
  for_each(stream, "_npi_solve", batch * count, SolveSides<T>{{lu, exchanges, n}, x, count});
}

int64_t sides_of(const Tensor& a, const Tensor& x) {
  return x.ndim() == a.ndim() ? x.shape().back() : 1;
}
bool is_real(const void*, const Signature& signature) {
  return kFloating.contains(signature.in[0].dtype);
}

// Inputs: a, b.
void solve(const void*, KernelContext& context) {
  const Tensor &a = context.in(0), &b = context.in(1);
  if (b.size() == 0) return;
  compute(a.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T* const x = arrays.out(0);
    convert(arrays.stream(), b, {x, &b.shape(), dtype_of<T>});
    solve_sides<T>(arrays.stream(), arrays.in(0), false, batch_of(a), side_of(a), x, sides_of(a, b),
                   context);
  });
}
// Inputs: gradient of x, a, x, b (for its shape); db = a^-T dx, da = -db x^T.
void solve_slope(const void*, KernelContext& context) {
  const Tensor &dx = context.in(0), &a = context.in(1);
  if (dx.size() == 0) return;
  const int64_t n = side_of(a), batch = batch_of(a), count = sides_of(a, dx);
  compute(a.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T *const da = arrays.out(0), *const db = arrays.out(1);
    convert(arrays.stream(), dx, {db, &dx.shape(), dtype_of<T>});
    solve_sides<T>(arrays.stream(), arrays.in(1), true, batch, n, db, count, context);
    gemm(arrays.stream(),
         {.dtype = dtype_of<T>,
          .transpose_a = false,
          .transpose_b = true,
          .m = n,
          .n = n,
          .k = count,
          .a = db,
          .lda = count,
          .step_a = n * count,
          .b = arrays.in(2),
          .ldb = count,
          .step_b = n * count,
          .c = da,
          .ldc = n,
          .step_c = n * n,
          .batch = batch,
          .alpha = -1},
         context);
  });
}

}  // namespace

void add_factors(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"_linalg_inverse", inverse, nullptr});
  rows->push_back({"_npi_tensorinv", tensor_inverse, nullptr});
  rows->push_back({"_backward_npi_tensorinv", tensor_inverse_slope, nullptr});
  rows->push_back({"_backward_linalg_inverse_transposed", inverse_transposed, nullptr});
  rows->push_back({"_linalg_det", determinant<1>, nullptr});
  rows->push_back({"_linalg_slogdet", determinant<2>, nullptr});
  rows->push_back({"_npi_solve", solve, is_real});
  rows->push_back({"_backward_npi_solve", solve_slope, nullptr});
}

}  // namespace cuda
}  // namespace mxnet
