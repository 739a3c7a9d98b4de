// SPDX-License-Identifier: Apache-2.0
// Factors of matrices with exchanged rows, and substitution, which solves equations by them. A
// block of threads factors a small matrix; every right-hand side has a thread of its own. A
// singular matrix has no inverse and no solutions, which is an error: the host waits for the
// pivots.
#pragma once
#include <optional>
#include <string>

#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/host_values.h"
#include "plugin/cuda/rounds.cuh"
#include "plugin/cuda/solver/solver.h"
#include "plugin/cuda/solver/solver_choice.h"

namespace mxnet {
namespace cuda {
namespace lu {

inline int64_t side_of(const Tensor& square) { return square.shape().back(); }
inline int64_t batch_of(const Tensor& square) { return square.shape().size(0, square.ndim() - 2); }

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
// Large matrices by cuSOLVER, many in between by cuBLAS, others by a block each. `regular`: a
// singular one is an error.
template <class T>
void factorise(T* matrices, int32_t* exchanges, int64_t batch, int64_t n, bool regular,
               const char* op, KernelContext& context) {
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
  } else if (is_batch_for_library(n, batch) && has_solver()) {
    solver.emplace(dtype_of<T>, context);
    solver->factor_all(n, batch, matrices, exchanges, infos);
  } else {
    for_each_in_rounds(stream, "linalg_lu", batch, Factorise<T>{matrices, exchanges, n});
    if (!regular) return;
    for_each(stream, op, batch, FindZeroPivot<T>{matrices, infos, n});
  }
  for (const int32_t info : host_values(context, infos, batch)) {
    if (regular && info != 0)
      throw Error(ErrorCode::kValue, op,
                  "given a singular matrix (info " + std::to_string(info) + ")");
  }
}

// One right-hand side, in place; elements are `step` apart.
template <class T>
struct Substitution {
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
};

// Right-hand sides of a batch of matrices, one behind the other: rows of x or its columns.
struct Sides {
  int64_t n, count;
  bool in_rows;
  MX_DEVICE int64_t first(int64_t i) const {
    const int64_t matrix = i / count, side = i - matrix * count;
    return matrix * n * count + (in_rows ? side * n : side);
  }
  MX_DEVICE int64_t step() const { return in_rows ? 1 : count; }
};
template <class T>
struct SolveSide {
  Substitution<T> solver;
  Sides sides;
  T* x;
  MX_DEVICE void operator()(int64_t i) const {
    solver(i / sides.count, x + sides.first(i), sides.step());
  }
};
// The first step of a substitution alone.
template <class T>
struct ExchangeSide {
  const int32_t* exchanges;
  Sides sides;
  T* x;
  MX_DEVICE void operator()(int64_t i) const {
    const int32_t* exchange = exchanges + i / sides.count * sides.n;
    T* const side = x + sides.first(i);
    for (int64_t k = 0; k < sides.n; ++k) {
      T &here = side[k * sides.step()], &other = side[(exchange[k] - 1) * sides.step()];
      const T kept = here;
      here = other;
      other = kept;
    }
  }
};

// x becomes what solves the equations with the matrices that were factored.
template <class T>
void substitute(const T* lu, const int32_t* exchanges, int64_t batch, const Sides& sides, T* x,
                const char* op, KernelContext& context) {
  NativeStream* const stream = context.stream()->native();
  const int64_t n = sides.n, all = batch * sides.count;
  if (!is_large_for_a_thread(n, batch) || !has_solver())
    return for_each(stream, op, all, SolveSide<T>{{lu, exchanges, n}, sides, x});
  for_each(stream, op, all, ExchangeSide<T>{exchanges, sides, x});
  Solver solver(dtype_of<T>, context);
  for (int64_t i = 0; i < batch; ++i) {
    // Row by row it is the transpose of a lower factor with ones and of an upper one.
    for (const bool lower : {false, true}) {
      const TriangleEquations equations{.n = n,
                                        .count = sides.count,
                                        .lower = lower,
                                        .transposed = true,
                                        .unit = !lower,
                                        .in_rows = sides.in_rows};
      solver.solve_triangle(equations, lu + i * n * n, x + i * n * sides.count);
    }
  }
}

template <class T>
T* copy_of(NativeStream* stream, const Tensor& from, KernelContext& context) {
  T* const copy = context.workspace_of<T>(from.size());
  convert(stream, from, {copy, &from.shape(), dtype_of<T>});
  return copy;
}

}  // namespace lu
}  // namespace cuda
}  // namespace mxnet
