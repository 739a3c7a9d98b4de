// SPDX-License-Identifier: Apache-2.0
// Linear systems: solve, and the tensor forms, which are the matrix ones after joining dimensions.
#include "op/matrix/la_op.h"

namespace mxnet {
namespace {

// How the arrays form `batch` systems of n equations with `count` right-hand sides.
struct Systems {
  int64_t batch, n, count;
};

struct SolveParams {
  static Systems systems(const SolveParams&, const Shape& a, const Shape& x) {
    const int64_t n = a.back();
    return {batch_size(a), n, x.ndim() == a.ndim() ? x.back() : 1};
  }
};
struct TensorsolveParams {
  Shape a_axes;
  static Systems systems(const TensorsolveParams&, const Shape&, const Shape& x) {
    return {1, x.size(), 1};
  }
};
struct TensorinvParams {
  int32_t ind;
};

// x = a^-1 b, or with the transpose of a; a is spent, x holds b before.
template <class T>
void solve_systems(const Systems& s, T* a, T* x, KernelContext& context, const char* tag) {
  auto* pivots = context.workspace_of<int32_t>(std::max<int64_t>(s.batch * s.n, 1));
  for_each_matrix(s.batch, cubic(s.n), tag, "given a singular matrix", [&](int64_t i) {
    return blas::gesv(s.n, s.count, a + i * s.n * s.n, pivots + i * s.n, x + i * s.n * s.count);
  });
}

template <class T>
void transpose_square(int64_t batch, int64_t n, T* a) {
  for (T* m = a; m < a + batch * n * n; m += n * n) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) std::swap(m[i * n + j], m[j * n + i]);
    }
  }
}

// Inputs a, b. `order` rearranges a where axes were named; null otherwise.
template <class P>
void solve_cpu(const P& params, KernelContext& context) {
  if (context.out(0).size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const Systems s = P::systems(params, context.in(0).shape(), context.out(0).shape());
    T* x = tensors.copy_to(1, tensors.out(0));
    solve_systems(s, tensors.copy(0), x, context, "_npi_solve");
  });
}

// Inputs: gradient of x, a, x. Outputs: gradients of a and b; db = a^-T dx, da = -db x^T.
template <class P>
void solve_backward_cpu(const P& params, KernelContext& context) {
  if (context.in(0).size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const Systems s = P::systems(params, context.in(1).shape(), context.in(2).shape());
    T *da = tensors.out(0), *db = tensors.copy_to(0, tensors.out(1));
    T* turned = tensors.copy(1);
    transpose_square(s.batch, s.n, turned);
    solve_systems(s, turned, db, context, "_npi_solve");
    const T* x = tensors.in(2);
    for (int64_t i = 0; i < s.batch; ++i) {
      const int64_t at = i * s.n * s.count;
      blas::gemm(false, true, s.n, s.n, s.count, T{-1}, db + at, s.count, x + at, s.count, T{0},
                 da + i * s.n * s.n, s.n);
    }
  });
}

void infer_solve(const SolveParams&, Infer& infer) {
  infer.in(0).same_dtype(infer.in(1));
  infer.in(1).same_as(infer.out(0));
  if (!infer_matrix(infer, 0, true) || !infer.in(1).known()) return;
  const int n = infer.in(0).ndim();
  const bool vector = infer.in(1).ndim() == n - 1;
  if (!vector && infer.in(1).ndim() != n) infer.in(1).fail(fmt::format("{} or {} dimensions", n - 1, n));
  for (int i = 0; i + 1 < n; ++i) infer.in(1).set_dim(i, infer.in(0).dim(i));
}

void infer_tensorsolve(const TensorsolveParams& params, Infer& infer) {
  infer.in(0).same_dtype(infer.in(1));
  infer.in(0).same_dtype(infer.out(0));
  if (!infer.in(0).known() || !infer.in(1).known()) return;
  const Shape &a = infer.in(0).shape(), &b = infer.in(1).shape();
  const std::vector<int> order = axes_moved_last(a.ndim(), params.a_axes);
  if (a.ndim() < b.ndim()) infer.in(0).fail("at least as many dimensions as b has");
  Shape x = Shape::scalar();
  for (int i = b.ndim(); i < a.ndim(); ++i) x.push_back(a[order[static_cast<std::size_t>(i)]]);
  if (x.size() != b.size() || a.size() != x.size() * b.size())
    infer.in(0).fail("a square matrix when the dimensions of b are joined and the others are");
  infer.out(0).set_shape(x);
}

void infer_backward(Infer& infer) {
  for (int i = 0; i < infer.num_out(); ++i) infer.out(i).same_as(infer.in(i == 0 ? 1 : 0));
}

}  // namespace
}  // namespace mxnet
