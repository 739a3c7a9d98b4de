// SPDX-License-Identifier: Apache-2.0
// Linear systems: solve, and the tensor forms, which are the matrix ones after joining dimensions.
#include "op/matrix/contract.h"
#include "op/matrix/la_op.h"
#include "op/matrix/tensor_equations.h"
#include "op/moving/strided_copy.h"
#include "op/products/matrix_batches.h"
#include "op/products/products.h"
#include "op/run/primitives.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

// How the arrays form `batch` systems of n equations with `count` right-hand sides.
struct Systems {
  int64_t batch, n, count;
};

struct SolveParams {};
Systems systems(const SolveParams&, const Shape& a, const Shape& x) {
  const int64_t n = a.back();
  return {batch_size(a), n, x.ndim() == a.ndim() ? x.back() : 1};
}
Systems systems(const TensorsolveParams&, const Shape&, const Shape& x) { return {1, x.size(), 1}; }
struct TensorinvParams {
  int32_t ind;
};

// x = a^-1 b, or with the transpose of a; a is spent, x holds b before.
template <class T>
void solve_systems(const Systems& s, T* a, T* x, KernelContext& context, const char* tag) {
  auto* pivots = context.workspace_of<int32_t>(std::max<int64_t>(s.batch * s.n, 1));
  for_matrices(s.batch, cubic(s.n), tag, "given a singular matrix",
               [&](int64_t first, int64_t count) {
                 return matrix_batches::solve(s.n, s.count, count, a + first * s.n * s.n,
                                              pivots + first * s.n, x + first * s.n * s.count);
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

// Between a as it is and as a matrix of equations; `back` the other way.
template <class T>
void rearrange(const SolveParams&, const Shape& shape, const T* from, T* to, bool) {
  if (from != to) std::copy_n(from, shape.size(), to);
}
template <class T>
void rearrange(const TensorsolveParams& params, const Shape& shape, const T* from, T* to,
               bool back) {
  const std::vector<int> order = axes_moved_last(shape.ndim(), params.a_axes);
  const Strides plain = row_major(shape);
  StridedPlan plan;
  int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const int64_t size = shape[order[i]], place = plain[static_cast<std::size_t>(order[i])];
    plan.add(size, back ? step : place, back ? place : step);
    step *= size;
  }
  copy_strided(plan, from, to, sizeof(T));
}

// Inputs a, b.
template <class P>
void solve_cpu(const P& params, KernelContext& context) {
  if (context.out(0).size() == 0) return;
  la_dispatch(context.out(0).dtype, context, [&]<class T>(LaTensors<T>& tensors, T) {
    const Shape& shape = context.in(0).shape();
    const Systems s = systems(params, shape, context.out(0).shape());
    T* x = tensors.copy_to(1, tensors.out(0));
    T* a = context.workspace_of<T>(shape.size());
    rearrange(params, shape, tensors.in(0), a, false);
    solve_systems(s, a, x, context, "_npi_solve");
  });
}

// Inputs: gradient of x, a, x, b (for its shape). Outputs: gradients of a and b; db = a^-T dx,
// da = -db x^T.
template <class P>
void solve_backward_cpu(const P& params, KernelContext& context) {
  // No solution depends on a then.
  if (context.in(0).size() == 0) return fill_tensor(context, context.out(0), 0);
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const Shape& shape = context.in(1).shape();
    const Systems s = systems(params, shape, context.in(2).shape());
    T *da = tensors.out(0), *db = tensors.copy_to(0, tensors.out(1));
    T* turned = context.workspace_of<T>(shape.size());
    rearrange(params, shape, tensors.in(1), turned, false);
    transpose_square(s.batch, s.n, turned);
    solve_systems(s, turned, db, context, "_npi_solve");
    const T* x = tensors.in(2);
    // `turned` is spent: it takes the gradient of the rearranged a.
    for (int64_t i = 0; i < s.batch; ++i) {
      const int64_t at = i * s.n * s.count;
      multiply_here(false, true, s.n, s.n, s.count, T{-1}, db + at, s.count, x + at, s.count, T{0},
                    turned + i * s.n * s.n, s.n);
    }
    rearrange(params, shape, static_cast<const T*>(turned), da, true);
  });
}

bool differ(InferArg one, InferArg other) {
  return one.dtype() != DType::kUnknown && other.dtype() != DType::kUnknown &&
         one.dtype() != other.dtype();
}

// Equations and right-hand sides of two types give float64.
void infer_types(Infer& infer) {
  if (differ(infer.in(0), infer.in(1))) {
    infer.out(0).set_dtype(DType::kFloat64);
  } else {
    infer.in(0).same_dtype(infer.in(1));
    infer_real(infer.in(0), infer.out(0));
  }
}

void infer_solve(const SolveParams&, Infer& infer) {
  infer_types(infer);
  infer.in(1).same_shape(infer.out(0));
  if (!infer_matrix(infer, 0, true) || !infer.in(1).rank_known()) return;
  const int n = infer.in(0).ndim();
  const bool vector = infer.in(1).ndim() == n - 1;
  if (!vector && infer.in(1).ndim() != n)
    infer.in(1).fail(fmt::format("{} or {} dimensions", n - 1, n));
  for (int i = 0; i + 1 < n; ++i) infer.in(1).set_dim(i, infer.in(0).dim(i));
}

void infer_tensorsolve(const TensorsolveParams& params, Infer& infer) {
  infer_types(infer);
  if (!infer.in(0).known() || !infer.in(1).known()) return;
  const Shape &a = infer.in(0).shape(), &b = infer.in(1).shape();
  const std::vector<int> order = axes_moved_last(a.ndim(), params.a_axes);
  if (static_cast<int>(order.size()) != a.ndim())
    infer.fail(fmt::format("given a_axes {}, expected each axis once", to_string(params.a_axes)));
  if (a.ndim() < b.ndim()) infer.in(0).fail("at least as many dimensions as b has");
  Shape x = Shape::scalar();
  for (int i = b.ndim(); i < a.ndim(); ++i) x.push_back(a[order[static_cast<std::size_t>(i)]]);
  if (x.size() != b.size() || a.size() != x.size() * b.size())
    infer.in(0).fail("a square matrix when the dimensions of b are joined and the others are");
  infer.out(0).set_shape(x);
}

// Inputs: gradient of the solution, equations, solution, right-hand sides.
void infer_backward(Infer& infer) {
  if (differ(infer.in(1), infer.in(3))) {
    infer.in(0).same_dtype(infer.in(2));
    infer.out(0).same_dtype(infer.in(1));
    infer.out(1).same_dtype(infer.in(3));
  } else {
    infer.one_dtype();
  }
  infer.in(0).same_shape(infer.in(2));
  infer.out(0).same_shape(infer.in(1));
  infer.out(1).same_shape(infer.in(3));
}

template <class P>
void define_solve(const char* name, const char* backward_name, const char* doc, const char* a,
                  const char* b, void (*infer)(const P&, Infer&), void (*params)(OpBuilder<P>&),
                  Gradients (*gradient)(const P&, Grad&)) {
  OpBuilder<P> op(name);
  op.doc(doc).input(a, "The equations.").input(b, "Right-hand sides.");
  params(op);
  op.dtypes(kNumeric).infer(infer).cpu(solve_cpu<P>).grad(gradient);
  OpBuilder<P> backward(backward_name);
  backward.doc("Gradients of the operator after which it is called.")
      .input("head_grad", "Gradient of the solution.")
      .input("a", "The equations.")
      .input("x", "The solution.")
      .input("b", "Its shape is that of the second gradient.")
      .type_only(3)
      .outputs([](const P&) { return 2; });
  params(backward);
  static const auto rule = infer;
  backward.dtypes(kFloating)
      .infer([](const P& parsed, Infer& arrays) {
        arrays.follow(rule, parsed, {arrays.in(1), arrays.in(3)}, {arrays.in(2)});
        infer_backward(arrays);
      })
      .cpu(solve_backward_cpu<P>);
}

Gradients both_gradients(const char* backward, Grad& grad) {
  const Value da =
      apply(backward, {grad.dout(0), grad.in(0), grad.out(0), grad.in(1)}, grad.attrs());
  return {da, output(da, 1)};
}

// ---- tensorinv ----

void infer_tensorinv(const TensorinvParams& params, Infer& infer) {
  infer.in(0).same_dtype(infer.out(0));
  if (!infer.in(0).known()) return;
  const Shape& a = infer.in(0).shape();
  if (params.ind <= 0 || params.ind >= a.ndim() + 1)
    infer.in(0).fail(fmt::format("more dimensions than ind = {}, which is positive", params.ind));
  Shape turned = Shape::scalar();
  for (int i = params.ind; i < a.ndim(); ++i) turned.push_back(a[i]);
  const int64_t n = turned.size();
  for (int i = 0; i < params.ind; ++i) turned.push_back(a[i]);
  if (n * n != a.size())
    infer.in(0).fail("a square matrix when the first `ind` dimensions and the others are joined");
  infer.out(0).set_shape(turned);
}

int64_t joined_side(const TensorinvParams& params, const Shape& a) { return a.size(0, params.ind); }

void tensorinv_cpu(const TensorinvParams& params, KernelContext& context) {
  if (context.in(0).size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = joined_side(params, context.in(0).shape());
    T* y = tensors.copy_to(0, tensors.out(0));
    auto* pivots = context.workspace_of<int32_t>(n);
    for_matrices(1, cubic(n), "_npi_tensorinv", "given a singular matrix",
                 [&](int64_t, int64_t) { return matrix_batches::invert(n, 1, y, pivots); });
  });
}

// Inputs: gradient of the inverse b, b, a (for its shape); da = -b^T db b^T.
void tensorinv_backward_cpu(const TensorinvParams& params, KernelContext& context) {
  if (context.in(0).size() == 0) return;
  la_dispatch(context, [&]<class T>(LaTensors<T>& tensors, T) {
    const int64_t n = joined_side(params, context.in(2).shape());
    const T *db = tensors.in(0), *b = tensors.in(1);
    T* left = context.workspace_of<T>(n * n);
    multiply_here(true, false, n, n, n, T{-1}, b, n, db, n, T{0}, left, n);
    multiply_here(false, true, n, n, n, T{1}, left, n, b, n, T{0}, tensors.out(0), n);
  });
}

MX_OP(_npi_tensorinv, TensorinvParams)
.doc("Inverse of an array as a linear map of its last dimensions into its first.")
    .input("a", "The array.")
    .param("ind", &TensorinvParams::ind, 2, "How many first dimensions are the result's.")
    .dtypes(kFloating)
    .infer(infer_tensorinv)
    .cpu(tensorinv_cpu)
    .grad([](const TensorinvParams&, Grad& grad) {
      return Gradients{
          apply("_backward_npi_tensorinv", {grad.dout(0), grad.out(0), grad.in(0)}, grad.attrs())};
    });

MX_OP(_backward_npi_tensorinv, TensorinvParams)
.doc("Gradient of _npi_tensorinv.")
    .input("head_grad", "Gradient of the inverse.")
    .input("inverse", "The inverse.")
    .input("a", "Its shape is that of the result.")
    .type_only(2)
    .param("ind", &TensorinvParams::ind, 2, "How many first dimensions are the result's.")
    .dtypes(kFloating)
    .infer([](const TensorinvParams& params, Infer& infer) {
      infer.one_dtype();
      infer.follow(infer_tensorinv, params, {infer.in(2)}, {infer.in(1)});
      infer.in(0).same_shape(infer.in(1));
      infer.out(0).same_shape(infer.in(2));
    })
    .cpu(tensorinv_backward_cpu);

[[maybe_unused]] const bool defined = [] {
  define_solve<SolveParams>(
      "_npi_solve", "_backward_npi_solve", "Solves systems of linear equations.", "A", "B",
      infer_solve, [](OpBuilder<SolveParams>& op) { op.lenient(); },
      [](const SolveParams&, Grad& grad) { return both_gradients("_backward_npi_solve", grad); });
  define_solve<TensorsolveParams>(
      "_npi_tensorsolve", "_backward_npi_tensorsolve",
      "Solves a x = b, where dimensions of a are joined.", "a", "b", infer_tensorsolve,
      [](OpBuilder<TensorsolveParams>& op) {
        op.param("a_axes", &TensorsolveParams::a_axes, Shape::scalar(),
                 "Dimensions of a that are moved to the end first.")
            .type_text("Shape(tuple), optional, default=[]");
      },
      [](const TensorsolveParams&, Grad& grad) {
        return both_gradients("_backward_npi_tensorsolve", grad);
      });
  mark_waiting({"_npi_solve", "_npi_tensorinv", "_npi_tensorsolve", "_backward_npi_solve",
                "_backward_npi_tensorsolve"});
  return true;
}();

}  // namespace
}  // namespace mxnet
