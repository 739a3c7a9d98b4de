// SPDX-License-Identifier: Apache-2.0
// Products of two arrays: dot and batch_dot, NumPy's dot, matmul and tensordot.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "op/loops/convert.h"
#include "op/matrix/labels.h"
#include "op/op_cost.h"
#include "op/params/dense_and_sparse.h"
#include "op/products/blas.h"
#include "op/products/products.h"
#include "op/rows/binary_kernel.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace {

struct PlainParams {
  int32_t wrt;
};
struct TensordotParams {
  Shape a_axes_summed, b_axes_summed;
  int32_t wrt;
};
struct TensordotIntParams {
  int32_t axes;
  int32_t wrt;
};

template <class P>
double one(const P&) {
  return 1.0;
}

std::vector<int> counted(int first, int count) {
  std::vector<int> labels(static_cast<std::size_t>(count));
  std::iota(labels.begin(), labels.end(), first);
  return labels;
}
std::vector<int> joined(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The last dimension of a (the first if transposed) with the first of b (the last).
LabelLists dot_labels(const DotParams& params, std::span<const Shape> shapes) {
  const int m = shapes[0].ndim() - 1, n = shapes[1].ndim() - 1;
  if (m < 0 || n < 0) throw LabelError{"one dimension or more", m < 0 ? 0 : 1};
  const std::vector<int> k{0}, rows = counted(1, m), columns = counted(1 + m, n);
  LabelLists lists;
  lists.in = {params.transpose_a ? joined(k, rows) : joined(rows, k),
              params.transpose_b ? joined(columns, k) : joined(k, columns)};
  lists.out = joined(rows, columns);
  if (lists.out.empty()) lists.out = {1};  // of two vectors: shape (1,)
  return lists;
}

LabelLists batch_dot_labels(const DotParams& params, std::span<const Shape> shapes) {
  const int ndim = shapes[0].ndim();
  if (ndim < 3 || shapes[1].ndim() != ndim) {
    if (ndim < 3) throw LabelError{"three dimensions or more", 0};
    throw LabelError{fmt::format("{} dimensions", ndim), 1};
  }
  const std::vector<int> batch = counted(3, ndim - 2);
  LabelLists lists;
  lists.in = {joined(batch, params.transpose_a ? std::vector{2, 0} : std::vector{0, 2}),
              joined(batch, params.transpose_b ? std::vector{1, 2} : std::vector{2, 1})};
  lists.out = joined(batch, {0, 1});
  return lists;
}

// The last dimension of a with the last but one of b; a scalar scales.
LabelLists np_dot_labels(const PlainParams&, std::span<const Shape> shapes) {
  const int m = shapes[0].ndim() - 1, n = shapes[1].ndim();
  LabelLists lists;
  if (m < 0 || n == 0) {
    lists.in = {counted(0, m + 1), counted(0, n)};
    lists.out = counted(0, std::max(m + 1, n));
    return lists;
  }
  std::vector<int> right = counted(1 + m, n - 1);
  lists.out = joined(counted(1, m), right);
  right.insert(right.end() - (n > 1 ? 1 : 0), 0);
  lists.in = {joined(counted(1, m), {0}), right};
  return lists;
}

LabelLists matmul_labels(const PlainParams&, std::span<const Shape> shapes) {
  const int a = shapes[0].ndim(), b = shapes[1].ndim();
  if (a == 0 || b == 0) {
    throw LabelError{"at least one dimension (a scalar is multiplied by `*`)", a == 0 ? 0 : 1};
  }
  // Batch labels are counted from the right: the last one is 3.
  const auto batch = [](int count) {
    std::vector<int> labels = counted(3, std::max(count, 0));
    std::reverse(labels.begin(), labels.end());
    return labels;
  };
  LabelLists lists;
  lists.broadcast_from = 3;
  lists.in = {a == 1 ? std::vector{2} : joined(batch(a - 2), {0, 2}),
              b == 1 ? std::vector{2} : joined(batch(b - 2), {2, 1})};
  lists.out = batch(std::max(a, b) - 2);
  if (a > 1) lists.out.push_back(0);
  if (b > 1) lists.out.push_back(1);
  return lists;
}

LabelLists tensordot_labels(std::span<const Shape> shapes, std::span<const int64_t> a_axes,
                            std::span<const int64_t> b_axes) {
  if (a_axes.size() != b_axes.size()) {
    throw LabelError{fmt::format("given {} axes of a and {} of b, expected equally many",
                                 a_axes.size(), b_axes.size())};
  }
  const int summed = static_cast<int>(a_axes.size());
  LabelLists lists;
  int next = summed;
  const std::span<const int64_t> axes[2] = {a_axes, b_axes};
  for (std::size_t side = 0; side < 2; ++side) {
    std::vector<int>& labels =
        lists.in.emplace_back(static_cast<std::size_t>(std::max(shapes[side].ndim(), 0)), -1);
    for (int i = 0; i < summed; ++i) {
      const int axis = normalize_axis(axes[side][static_cast<std::size_t>(i)], shapes[side].ndim(),
                                      "_npi_tensordot");
      if (labels[static_cast<std::size_t>(axis)] >= 0)
        throw LabelError{fmt::format("given axis {} twice, expected different axes", axis)};
      labels[static_cast<std::size_t>(axis)] = i;
    }
    for (int& label : labels) {
      if (label >= 0) continue;
      label = next++;
      lists.out.push_back(label);
    }
  }
  return lists;
}
LabelLists tensordot_axes_labels(const TensordotParams& params, std::span<const Shape> shapes) {
  return tensordot_labels(shapes, params.a_axes_summed.dims(), params.b_axes_summed.dims());
}
LabelLists tensordot_int_labels(const TensordotIntParams& params, std::span<const Shape> shapes) {
  if (params.axes < 0 || params.axes > std::min(shapes[0].ndim(), shapes[1].ndim())) {
    throw LabelError{fmt::format("given axes = {} for shapes {} and {}, expected as many in both",
                                 params.axes, to_string(shapes[0]), to_string(shapes[1]))};
  }
  std::vector<int64_t> a_axes(static_cast<std::size_t>(params.axes)), b_axes(a_axes);
  std::iota(a_axes.begin(), a_axes.end(), shapes[0].ndim() - params.axes);
  std::iota(b_axes.begin(), b_axes.end(), 0);
  return tensordot_labels(shapes, a_axes, b_axes);
}

// Small matrices: what the general way thinks about labels would take longer than the product.
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
};
using MaybeMatrices = std::optional<Matrices>;

MaybeMatrices dot_matrices(const DotParams& params, const Shape& a, const Shape& b) {
  if (a.ndim() != 2 || b.ndim() != 2) return {};
  const MatrixProduct p(params, a, b);
  if (b[params.transpose_b ? 1 : 0] != p.k) return {};
  return Matrices{params.transpose_a, params.transpose_b, p.m, p.k, p.n, {p.m, p.n}};
}

// Over `summed` dimensions: the last ones of a, the first ones of b.
MaybeMatrices over_neighbours(int summed, const Shape& a, const Shape& b) {
  const int rows = a.ndim() - summed;
  if (summed < 0 || rows < 0 || b.ndim() < summed) return {};
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

bool is_small(const MaybeMatrices& p, DType type) {
  return is_product_type(type) && p && p->m > 0 && p->n > 0 && p->k > 0 &&
         std::max({p->m, p->n, p->k}) <= kSmallProduct && p->m * p->n <= kSmallProduct / p->k;
}
void multiply_small(const Matrices& p, const Tensor& a, const Tensor& b, const Tensor& c) {
  const int64_t lda = p.transpose_a ? p.m : p.k, ldb = p.transpose_b ? p.k : p.n;
  const int64_t start[] = {0};
  dispatch_product(a.dtype, [&]<class T>(T one) {
    if constexpr (std::is_floating_point_v<T>) {
      blas::gemm(p.transpose_a, p.transpose_b, p.m, p.n, p.k, one, a.as<T>(), lda, b.as<T>(), ldb,
                 T{0}, c.as<T>(), p.n);
    } else {
      multiply(Products<T>{p.transpose_a, p.transpose_b, p.m, p.n, p.k, a.as<T>(), lda, b.as<T>(),
                           ldb, c.as<T>(), p.n, one, T{0}, start, start, start});
    }
  });
}

// Each of one array meets each of the other: no sum, and as exact in the type of the arrays, which
// for most integers and for halves is narrower than what sums are made in. (Of floats products make
// them as fast, of narrow rows faster.)
bool is_outer(const MaybeMatrices& p, DType type) {
  return type != DType::kFloat32 && p && p->k == 1;
}
// Where one is zero that is not so: a sum of products of zeros is +0, whatever their sign.
bool has_zero(const Tensor& x) {
  return dispatch_dtype<kFloating>(x.dtype, "outer product", [&]<class T>(TypeTag<T>) {
    const T* const first = x.as<T>();
    return std::any_of(first, first + x.size(),
                       [](T one) { return convert<ComputeType<T>>(one) == 0; });
  });
}
void multiply_outer(const Matrices& p, const Tensor& a, const Tensor& b, const Tensor& c,
                    KernelContext& context) {
  const Shape column{p.m, 1}, row{1, p.n}, all{p.m, p.n};
  run_binary(BinaryRow::multiply, {a.data, &column, a.dtype}, {b.data, &row, b.dtype},
             {c.data, &all, c.dtype}, context);
}

// What finds the matrices serves inference and kernels.
template <class P, FindMatrices<P> kFind>
struct Small {
  static bool accepts(const P& params, const Signature& signature) {
    return is_small(kFind(params, signature.in[0].shape(), signature.in[1].shape()),
                    signature.in[0].dtype);
  }
  static void run(const P& params, KernelContext& context) {
    const Tensor &a = context.in(0), &b = context.in(1);
    multiply_small(*kFind(params, a.shape(), b.shape()), a, b, context.out(0));
  }
  static bool accepts_outer(const P& params, const Signature& signature) {
    return is_outer(kFind(params, signature.in[0].shape(), signature.in[1].shape()),
                    signature.in[0].dtype);
  }
  template <class Op>
  static void run_outer(const P& params, KernelContext& context) {
    const Tensor &a = context.in(0), &b = context.in(1);
    if (is_floating(a.dtype) && (gpu_table(context) != nullptr || has_zero(a) || has_zero(b)))
      return Op::forward_cpu(params, context);
    multiply_outer(*kFind(params, a.shape(), b.shape()), a, b, context.out(0), context);
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
    op.cpu(run, accepts, "small matrices");
    op.cpu(run_outer<Op>, accepts_outer, "outer products");
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
  const int last = a.ndim() - 1;
  const int64_t start[] = {0};
  dispatch_product(a.dtype, [&]<class T>(T one) {
    multiply(Products<T>{params.transpose_a,
                         params.transpose_b,
                         p.m,
                         p.n,
                         p.k,
                         a.as<T>(),
                         a.dim(last),
                         b.as<T>(),
                         b.dim(last),
                         c.as<T>(),
                         p.n,
                         one,
                         T{0},
                         start,
                         start,
                         start,
                         c.size() / (p.m * p.n),
                         p.m * p.k,
                         p.k * p.n,
                         p.m * p.n});
  });
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
             "lhs", "rhs", kFloating, dot_params, Small<DotParams, dot_matrices>::add_to<Dot>) &&
         BatchDot::define_pair("batch_dot", "_backward_batch_dot", {"_npx_batch_dot"},
                               "Matrix products over leading dimensions.", "lhs", "rhs", kFloating,
                               dot_params,
                               [](OpBuilder<DotParams>& op) {
                                 op.cpu(batches_cpu<DotParams>, are_batches<DotParams>, "batches");
                                 BatchDot::infer_shortcut = infer_batches<DotParams>;
                               }) &&
         NumpyDot::define_pair("_np_dot", "_backward_np_dot", {}, "NumPy's dot.", "a", "b",
                               kNumeric, no_params,
                               Small<PlainParams, numpy_matrices>::add_to<NumpyDot>) &&
         Matmul::define_pair(
             "_npi_matmul", "_backward_npi_matmul", {}, "NumPy's matmul.", "a", "b", kNumeric,
             matmul_params,
             [](OpBuilder<PlainParams>& op) {
               using Matrix = Small<PlainParams, numpy_matrices>;
               Matrix::add_to<Matmul>(op);
               op.cpu(batches_cpu<PlainParams>, are_batches<PlainParams>, "batches");
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
             Small<TensordotParams, inner_matrices>::add_to<Tensordot>) &&
         TensordotInt::define_pair(
             "_npi_tensordot_int_axes", "_backward_npi_tensordot_int_axes", {},
             "Sums products over the last axes of the first array and the first of the second.",
             "a", "b", kNumeric,
             [](OpBuilder<TensordotIntParams>& op) {
               op.param("axes", &TensordotIntParams::axes, "How many axes are summed.");
             },
             Small<TensordotIntParams, tensordot_matrices>::add_to<TensordotInt>) &&
         mark_products({"dot", "batch_dot", "_np_dot", "_npi_matmul", "_npi_tensordot",
                        "_npi_tensordot_int_axes"});
}();

}  // namespace
}  // namespace mxnet
