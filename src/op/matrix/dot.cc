// SPDX-License-Identifier: Apache-2.0
// Products of two arrays: dot and batch_dot, NumPy's dot, matmul and tensordot. All of
// them can be computed by labels (product_labels.h); where the arrays are matrices as they lie, or
// batches of matrices, that detour is spared.
#include <algorithm>
#include <optional>

#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/loops/half_sums.h"
#include "op/matrix/product_labels.h"
#include "op/op_cost.h"
#include "op/products/bfloat16_products.h"
#include "op/products/few_rows.h"
#include "op/products/products.h"
#include "op/rows/binary_kernel.h"

namespace mxnet {
namespace {

template <class P>
double one(const P&) {
  return 1.0;
}

// Products of which the calling thread makes one without asking what batches ask.
constexpr int64_t kSmallProduct = 64 * 64 * 64;

// Of the last two dimensions.
struct MatrixProduct {
  MatrixProduct(const DotParams& params, const Shape& a, const Shape& b)
      : m(a[a.ndim() - (params.transpose_a ? 1 : 2)]),
        k(a[a.ndim() - (params.transpose_a ? 2 : 1)]),
        n(b[b.ndim() - (params.transpose_b ? 2 : 1)]) {}
  int64_t m, k, n;
};

// A product of two matrices as which the arrays of a call can be seen as they lie.
struct Matrices {
  bool transpose_a, transpose_b;
  int64_t m, k, n;
  Shape out;
  bool few = true;  // whether floats are for multiply_few, which sums some vectors in another order
};
using MaybeMatrices = std::optional<Matrices>;

// A vector of `dot`, and a matrix or vector, in the digits that labels give: a lone row or column
// is not transposed. Transposing a vector changes nothing.
MaybeMatrices vector_matrices(const DotParams& params, const Shape& a, const Shape& b) {
  const bool rows = a.ndim() == 2, columns = b.ndim() == 2;
  const int summed_a = rows && !params.transpose_a ? 1 : 0;
  const int summed_b = columns && params.transpose_b ? 1 : 0;
  const int64_t m = rows ? a[1 - summed_a] : 1, n = columns ? b[1 - summed_b] : 1;
  const int64_t k = a[summed_a];
  if (b[summed_b] != k) return {};
  return Matrices{rows && summed_a == 0 && m != 1 && k != 1,
                  summed_b == 1 && n != 1 && k != 1,
                  m,
                  k,
                  n,
                  {rows ? m : n},
                  false};
}

MaybeMatrices dot_matrices(const DotParams& params, const Shape& a, const Shape& b) {
  if (std::min(a.ndim(), b.ndim()) < 1 || std::max(a.ndim(), b.ndim()) > 2) return {};
  if (a.ndim() == 1 || b.ndim() == 1) return vector_matrices(params, a, b);
  const MatrixProduct p(params, a, b);
  if (b[params.transpose_b ? 1 : 0] != p.k) return {};
  return Matrices{params.transpose_a, params.transpose_b, p.m, p.k, p.n, {p.m, p.n}};
}

// Over `summed` dimensions: the last ones of a, the first ones of b.
MaybeMatrices over_neighbours(int summed, const Shape& a, const Shape& b) {
  if (summed < 0 || summed > a.ndim() || summed > b.ndim()) return {};
  const int rows = a.ndim() - summed;
  Matrices p{
      false,          false, a.size(0, rows), a.size(rows, a.ndim()), b.size(summed, b.ndim()),
      Shape::scalar()};
  for (int i = 0; i < summed; ++i)
    if (a[rows + i] != b[i]) return {};
  for (int i = 0; i < rows; ++i) p.out.push_back(a[i]);
  for (int i = summed; i < b.ndim(); ++i) p.out.push_back(b[i]);
  return p;
}

// Vectors and matrices, which NumPy's dot and matmul multiply alike.
MaybeMatrices numpy_matrices(const PlainParams&, const Shape& a, const Shape& b) {
  return a.ndim() >= 1 && a.ndim() <= 2 && b.ndim() >= 1 && b.ndim() <= 2 ? over_neighbours(1, a, b)
                                                                          : MaybeMatrices();
}
MaybeMatrices tensordot_matrices(const TensordotIntParams& params, const Shape& a, const Shape& b) {
  return over_neighbours(params.axes, a, b);
}
// Over the last dimensions of both, which is NumPy's inner.
MaybeMatrices inner_matrices(const TensordotParams& params, const Shape& a, const Shape& b) {
  const auto last = [](const Shape& axes, const Shape& of) {
    return axes.ndim() == 1 && of.ndim() > 0 && (axes[0] == -1 || axes[0] == of.ndim() - 1);
  };
  if (!last(params.a_axes_summed, a) || !last(params.b_axes_summed, b) || a.back() != b.back())
    return {};
  const int m = a.ndim() - 1, n = b.ndim() - 1;
  Matrices p{false, true, a.size(0, m), a.back(), b.size(0, n), Shape::scalar()};
  for (int i = 0; i < m; ++i) p.out.push_back(a[i]);
  for (int i = 0; i < n; ++i) p.out.push_back(b[i]);
  return p;
}

template <class P>
using FindMatrices = MaybeMatrices (*)(const P& params, const Shape& a, const Shape& b);

bool is_product_type(DType type) {
  return type == DType::kFloat32 || type == DType::kFloat64 || type == DType::kInt32 ||
         type == DType::kInt64;
}
// fn(1 of the type in which arrays of `type` are multiplied). REQUIRES: is_product_type(type).
template <class F>
void dispatch_product(DType type, const F& fn) {
  if (type == DType::kFloat32) return fn(1.0f);
  if (type == DType::kFloat64) return fn(1.0);
  type == DType::kInt32 ? fn(uint32_t{1}) : fn(uint64_t{1});
}

bool is_half(DType type) { return type == DType::kFloat16 || type == DType::kBFloat16; }

bool is_small(const Matrices& p) {
  return std::max({p.m, p.n, p.k}) <= kSmallProduct && p.m * p.n <= kSmallProduct / p.k;
}
// What the general way thinks about labels would take longer than a small product, and a tenth of
// one of 100 x 100. Large products without a sum are loops of broadcasting there.
bool suits_matrices(const MaybeMatrices& p, DType type) {
  if (!is_product_type(type) || !p || p->m <= 0 || p->n <= 0 || p->k <= 0) return false;
  return is_small(*p) || (!is_integer(type) && p->k > 1);
}
void multiply_matrices(const Matrices& p, const Tensor& a, const Tensor& b, const Tensor& c) {
  dispatch_product(a.dtype, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      if (p.few && is_small(p))
        return multiply_few(p.transpose_a, p.transpose_b, p.m, p.n, p.k, a.as<T>(), b.as<T>(),
                            c.as<T>());
    }
    multiply_batch(p.transpose_a, p.transpose_b, p.m, p.n, p.k, 1, a.as<T>(), b.as<T>(), c.as<T>());
  });
}

// Integers of which each of one array meets each of the other: no sum, and as exact in their own
// type, which for most is narrower than what sums are made in.
bool is_outer(const MaybeMatrices& p, DType type) { return is_integer(type) && p && p->k == 1; }
void multiply_outer(const Matrices& p, const Tensor& a, const Tensor& b, const Tensor& c,
                    KernelContext& context) {
  const Shape column{p.m, 1}, row{1, p.n}, all{p.m, p.n};
  run_binary(BinaryRow::multiply, {a.data, &column, a.dtype}, {b.data, &row, b.dtype},
             {c.data, &all, c.dtype}, context);
}

// Two vectors of halves, which are converted as they are met.
void multiply_half_vectors(int64_t k, const Tensor& a, const Tensor& b, const Tensor& c) {
  const auto sum = static_cast<float>(sum_of_products(a.dtype, a.data, b.data, k));
  if (c.dtype == DType::kFloat16) {
    *c.as<float16>() = convert<float16>(sum);
  } else {
    *c.as<bfloat16>() = convert<bfloat16>(sum);
  }
}

// A matrix whose rows lie together and a vector, of a half type: converted as they are met, too.
bool is_half_matrix(const MaybeMatrices& p, DType type) {
  if (!p || p->m <= 0 || p->n <= 0 || p->k <= 1 || (p->m == 1) == (p->n == 1)) return false;
  if (p->n == 1 ? p->transpose_a : !p->transpose_b) return false;
  return (type == DType::kFloat16 && has_half_few_rows()) ||
         (type == DType::kBFloat16 && has_narrow_few_rows());
}
void multiply_half_matrix(const Matrices& p, const Tensor& a, const Tensor& b, const Tensor& c,
                          KernelContext& context) {
  const bool left = p.n == 1;  // whether the matrix is
  const Tensor& matrix = left ? a : b;
  const auto* const vector = as_type(left ? b : a, DType::kFloat32, context).as<const float>();
  const LayerSizes sizes{1, left ? p.m : p.n, p.k};
  auto* const sums = context.workspace_of<float>(sizes.hidden);
  if (matrix.dtype == DType::kFloat16) {
    multiply_few_rows(sizes, vector, matrix.as<const float16>(), {}, sums);
  } else {
    multiply_few_rows(sizes, vector, matrix.as<const bfloat16>(), {}, sums);
  }
  convert_tensor({sums, c.shape_ptr, DType::kFloat32}, c, context);
}

// What finds the matrices serves inference and kernels.
template <class P, FindMatrices<P> kFind>
struct MatrixKernels {
  static bool accepts(const P& params, const Signature& signature) {
    return suits_matrices(kFind(params, signature.in[0].shape(), signature.in[1].shape()),
                          signature.in[0].dtype);
  }
  static void run(const P& params, KernelContext& context) {
    const Tensor &a = context.in(0), &b = context.in(1);
    multiply_matrices(*kFind(params, a.shape(), b.shape()), a, b, context.out(0));
  }
  static bool accepts_outer(const P& params, const Signature& signature) {
    return is_outer(kFind(params, signature.in[0].shape(), signature.in[1].shape()),
                    signature.in[0].dtype);
  }
  static void run_outer(const P& params, KernelContext& context) {
    const Tensor &a = context.in(0), &b = context.in(1);
    multiply_outer(*kFind(params, a.shape(), b.shape()), a, b, context.out(0), context);
  }
  static bool accepts_half_vectors(const P& params, const Signature& signature) {
    if (!is_half(signature.in[0].dtype) || !multiplies_halves()) return false;
    const MaybeMatrices p = kFind(params, signature.in[0].shape(), signature.in[1].shape());
    return p && p->m == 1 && p->n == 1 && p->k > 0;
  }
  static void run_half_vectors(const P&, KernelContext& context) {
    multiply_half_vectors(context.in(0).size(), context.in(0), context.in(1), context.out(0));
  }
  static bool accepts_half_matrix(const P& params, const Signature& signature) {
    return is_half(signature.in[0].dtype) &&
           is_half_matrix(kFind(params, signature.in[0].shape(), signature.in[1].shape()),
                          signature.in[0].dtype);
  }
  static void run_half_matrix(const P& params, KernelContext& context) {
    const Tensor &a = context.in(0), &b = context.in(1);
    multiply_half_matrix(*kFind(params, a.shape(), b.shape()), a, b, context.out(0), context);
  }
  static bool accepts_bfloat16(const P& params, const Signature& signature) {
    if (signature.in[0].dtype != DType::kBFloat16) return false;
    const MaybeMatrices p = kFind(params, signature.in[0].shape(), signature.in[1].shape());
    return p && multiplies_bfloat16(p->m, p->n, p->k);
  }
  static void run_bfloat16(const P& params, KernelContext& context) {
    const Tensor &a = context.in(0), &b = context.in(1);
    const Matrices p = *kFind(params, a.shape(), b.shape());
    multiply({p.transpose_a, p.transpose_b, p.m, p.n, p.k, a.as<bfloat16>(), b.as<bfloat16>(),
              context.out(0).as<bfloat16>()},
             context);
  }
  // Where it is false the general way says what is wrong, if anything is.
  static bool infer(const P& params, Infer& infer) {
    const InferArg a = infer.in(0), b = infer.in(1);
    if (!a.known() || !b.known()) return false;
    const MaybeMatrices p = kFind(params, a.shape(), b.shape());
    if (p) infer.out(0).set_shape(p->out);
    return p.has_value();
  }
  template <class Op>
  static void add_to(OpBuilder<P>& op) {
    op.cpu(run, accepts, "matrices");
    op.cpu(run_outer, accepts_outer, "outer products of integers");
    op.cpu(run_half_vectors, accepts_half_vectors, "vectors of halves");
    op.cpu(run_half_matrix, accepts_half_matrix, "matrix and vector of halves");
    op.cpu(run_bfloat16, accepts_bfloat16, "matrices of bfloat16");
    Op::infer_shortcut = infer;
  }
};

// Batches, of which the labels would tell no more than their shapes do: none is broadcast.
DotParams as_dot(const DotParams& params) { return params; }
DotParams as_dot(const PlainParams&) { return {}; }

bool are_alike(const Shape& a, const Shape& b) {
  if (a.ndim() < 3 || b.ndim() != a.ndim()) return false;
  for (int i = 0; i + 2 < a.ndim(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}

template <class P>
bool are_batches(const P& params, const Signature& signature) {
  const Shape &a = signature.in[0].shape(), &b = signature.in[1].shape();
  if (!is_product_type(signature.in[0].dtype) || !are_alike(a, b)) return false;
  return a.size() > 0 && b.size() > 0 && MatrixProduct(as_dot(params), a, b).k > 0;
}

template <class P>
void batches_cpu(const P& given, KernelContext& context) {
  const DotParams params = as_dot(given);
  const Tensor &a = context.in(0), &b = context.in(1), &c = context.out(0);
  const MatrixProduct p(params, a.shape(), b.shape());
  dispatch_product(a.dtype, [&]<class T>(T) {
    multiply_batch(params.transpose_a, params.transpose_b, p.m, p.n, p.k, c.size() / (p.m * p.n),
                   a.as<T>(), b.as<T>(), c.as<T>());
  });
}

template <class P>
bool are_bfloat16_batches(const P& given, const Signature& signature) {
  const Shape &a = signature.in[0].shape(), &b = signature.in[1].shape();
  if (signature.in[0].dtype != DType::kBFloat16 || !are_alike(a, b) || a.size() == 0) return false;
  const MatrixProduct p(as_dot(given), a, b);
  return multiplies_bfloat16(p.m, p.n, p.k);
}
template <class P>
void bfloat16_batches_cpu(const P& given, KernelContext& context) {
  const DotParams params = as_dot(given);
  const Tensor &a = context.in(0), &b = context.in(1), &c = context.out(0);
  const MatrixProduct p(params, a.shape(), b.shape());
  multiply({params.transpose_a, params.transpose_b, p.m, p.n, p.k, a.as<bfloat16>(),
            b.as<bfloat16>(), c.as<bfloat16>(), c.size() / (p.m * p.n)},
           context);
}
template <class P>
void add_batches(OpBuilder<P>& op) {
  op.cpu(batches_cpu<P>, are_batches<P>, "batches");
  op.cpu(bfloat16_batches_cpu<P>, are_bfloat16_batches<P>, "batches of bfloat16");
}

template <class P>
bool infer_batches(const P& given, Infer& infer) {
  const DotParams params = as_dot(given);
  const InferArg a = infer.in(0), b = infer.in(1);
  if (!a.known() || !b.known() || !are_alike(a.shape(), b.shape())) return false;
  const MatrixProduct p(params, a.shape(), b.shape());
  if (b.dim(b.ndim() - (params.transpose_b ? 1 : 2)) != p.k) return false;
  Shape shape(a.shape());
  shape[a.ndim() - 2] = p.m;
  shape[a.ndim() - 1] = p.n;
  infer.out(0).set_shape(shape);
  return true;
}

void dot_params(OpBuilder<DotParams>& op) {
  op.makes_sparse([](const DotParams& params) {
    return params.forward_stype == StorageChoice::kRowSparse ||
           params.forward_stype == StorageChoice::kCSR;
  });
  op.param("transpose_a", &DotParams::transpose_a, false, "Whether the first is transposed.")
      .param("transpose_b", &DotParams::transpose_b, false, "Whether the second is transposed.")
      .choice<StorageChoice>("forward_stype", &DotParams::forward_stype,
                             {{"None", StorageChoice::kNone},
                              {"csr", StorageChoice::kCSR},
                              {"default", StorageChoice::kDense},
                              {"row_sparse", StorageChoice::kRowSparse}},
                             "None", "Storage type of the result, where there is a choice.");
}
void no_params(OpBuilder<PlainParams>& op) { op.lenient(); }
void matmul_params(OpBuilder<PlainParams>& op) { op.lenient().output("out"); }

[[maybe_unused]] const bool defined = [] {
  using Dot = Multilinear<DotParams, dot_labels, one>;
  using BatchDot = Multilinear<DotParams, batch_dot_labels, one>;
  using NumpyDot = Multilinear<PlainParams, np_dot_labels, one>;
  using Matmul = Multilinear<PlainParams, matmul_labels, one>;
  using Tensordot = Multilinear<TensordotParams, tensordot_axes_labels, one>;
  using TensordotInt = Multilinear<TensordotIntParams, tensordot_int_labels, one>;
  return Dot::define_pair(
             "dot", "_backward_dot", {"_sparse_dot"},
             "Product over the last dimension of the first array and the first of the second.",
             "lhs", "rhs", kFloating, dot_params,
             MatrixKernels<DotParams, dot_matrices>::add_to<Dot>) &&
         BatchDot::define_pair("batch_dot", "_backward_batch_dot", {"_npx_batch_dot"},
                               "Matrix products over leading dimensions.", "lhs", "rhs", kFloating,
                               dot_params,
                               [](OpBuilder<DotParams>& op) {
                                 add_batches(op);
                                 BatchDot::infer_shortcut = infer_batches<DotParams>;
                               }) &&
         NumpyDot::define_pair("_np_dot", "_backward_np_dot", {}, "NumPy's dot.", "a", "b",
                               kNumeric, no_params,
                               MatrixKernels<PlainParams, numpy_matrices>::add_to<NumpyDot>) &&
         Matmul::define_pair(
             "_npi_matmul", "_backward_npi_matmul", {}, "NumPy's matmul.", "a", "b", kNumeric,
             matmul_params,
             [](OpBuilder<PlainParams>& op) {
               using Matrix = MatrixKernels<PlainParams, numpy_matrices>;
               Matrix::add_to<Matmul>(op);
               add_batches(op);
               Matmul::infer_shortcut = [](const PlainParams& params, Infer& infer) {
                 return Matrix::infer(params, infer) || infer_batches(params, infer);
               };
             }) &&
         Tensordot::define_pair(
             "_npi_tensordot", "_backward_npi_tensordot", {}, "Sums products over pairs of axes.",
             "a", "b", kNumeric,
             [](OpBuilder<TensordotParams>& op) {
               op.param("a_axes_summed", &TensordotParams::a_axes_summed, "Axes of the first.")
                   .param("b_axes_summed", &TensordotParams::b_axes_summed, "Axes of the second.");
             },
             MatrixKernels<TensordotParams, inner_matrices>::add_to<Tensordot>) &&
         TensordotInt::define_pair(
             "_npi_tensordot_int_axes", "_backward_npi_tensordot_int_axes", {},
             "Sums products over the last axes of the first array and the first of the second.",
             "a", "b", kNumeric,
             [](OpBuilder<TensordotIntParams>& op) {
               op.param("axes", &TensordotIntParams::axes, "How many axes are summed.");
             },
             MatrixKernels<TensordotIntParams, tensordot_matrices>::add_to<TensordotInt>) &&
         mark_products({"dot", "batch_dot", "_np_dot", "_npi_matmul", "_npi_tensordot",
                        "_npi_tensordot_int_axes"});
}();

}  // namespace
}  // namespace mxnet
