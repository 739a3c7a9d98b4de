// SPDX-License-Identifier: Apache-2.0
// Factors of matrices by cuSOLVER. Matrices are row-major without gaps, of float32 or float64, and
// are worked on in place; `info` is LAPACK's, on the device.
#pragma once
#include <memory>

#include "op/kernel.h"
#include "plugin/cuda/solver/triangle.h"

namespace mxnet::cuda {

// Whether cuSOLVER can be opened; where it cannot, why is logged once.
bool has_solver();

// For one call of an operator on its stream. REQUIRES: has_solver(). Lives until the host has
// waited for the call's `info`, if it has one: memory of the host is in use until then.
class Solver {
 public:
  Solver(DType dtype, KernelContext& context);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  // The Cholesky factor in the triangle that is read; the other one stays.
  void factor_definite(int64_t n, bool lower, void* a, int32_t* info);
  // The same of `count` matrices one behind the other in one call.
  void factor_all_definite(int64_t n, int64_t count, bool lower, void* a, int32_t* infos);
  // LU with exchanged rows (counted from 1) of the transpose, as LAPACK sees a row-major matrix.
  void factor(int64_t n, void* a, int64_t* exchanges, int32_t* info);
  // The same of `count` matrices one behind the other in one call of cuBLAS.
  void factor_all(int64_t n, int64_t count, void* a, int32_t* exchanges, int32_t* infos);
  // x becomes what solves the equations with a, of which the other triangle is not read; by cuBLAS.
  void solve_triangle(const TriangleEquations& equations, const void* a, void* x);
  // Eigenvalues in ascending order; eigenvectors become the rows of `a`, which is lost without.
  void eigen(int64_t n, bool lower, bool vectors, void* a, void* values, int32_t* info);
  // The same of `count` matrices one behind the other, with as many values and infos, in one call.
  void eigen_of_all(int64_t n, int64_t count, bool lower, bool vectors, void* a, void* values,
                    int32_t* infos);
  // Of any matrix, whose columns lie one behind the other in `a`, which is lost: n real parts of
  // eigenvalues, then n imaginary ones. Of real ones the eigenvectors become the rows of `vectors`,
  // if that is not null.
  void eigen_of_any(int64_t n, void* a, void* values, void* vectors, int32_t* info);
  // a (m x n, m <= n, lost) = u diag(s) v, with u of m x m and v of m x n.
  void singular(int64_t m, int64_t n, void* a, void* u, void* s, void* v, int32_t* info);
  // The same of `count` matrices one behind the other in one call, but u is turned, and v has n
  // rows of which the first m are those above. REQUIRES: n <= kMostTogether.
  static constexpr int64_t kMostTogether = 32;  // cuSOLVER's
  void singular_of_all(int64_t m, int64_t n, int64_t count, void* a, void* u_turned, void* s,
                       void* v_square, int32_t* infos);
  // a (m x n, m <= n) = l q: first l in the lower triangle, with `factors` (m) for what follows;
  // then q in place of `a`.
  void lq_triangle(int64_t m, int64_t n, void* a, void* factors, int32_t* info);
  void lq_rows(int64_t m, int64_t n, void* a, const void* factors, int32_t* info);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace mxnet::cuda
