// SPDX-License-Identifier: Apache-2.0
// General products of batches of matrices: alpha op(A) op(B) (+ beta C), and alpha A A^T. The rows
// of a matrix may be another dimension than the last but one (`axis`).
#include <cstring>

#include "op/matrix/la_op.h"
#include "op/matrix/labels.h"
#include "op/op_cost.h"
#include "op/products/products.h"
#include "op/run/gpu_table.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

struct GemmParams {
  bool transpose_a, transpose_b;
  double alpha, beta;
  int32_t axis;
  int32_t wrt;
};

// Labels: 0 rows, 1 columns, 2 summed, the batch from 3 on.
LabelLists gemm_labels(const GemmParams& params, std::span<const Shape> shapes) {
  const int ndim = shapes[0].ndim();
  if (ndim < 2 || shapes[1].ndim() != ndim) {
    if (ndim < 2) throw LabelError{"two dimensions or more", 0};
    throw LabelError{fmt::format("{} dimensions", ndim), 1};
  }
  const int axis = normalize_axis(params.axis, ndim, "_linalg_gemm2");
  if (axis == ndim - 1) {
    throw LabelError{
        fmt::format("given axis {}, expected one before the last, {}", params.axis, axis)};
  }
  const auto with = [&](int row, int column) {
    LabelList labels;
    for (int i = 0; i + 1 < ndim; ++i) labels.push_back(i == axis ? row : 3 + i);
    labels.push_back(column);
    return labels;
  };
  LabelLists lists;
  lists.in = {params.transpose_a ? with(2, 0) : with(0, 2),
              params.transpose_b ? with(1, 2) : with(2, 1)};
  lists.out = with(0, 1);
  return lists;
}

double alpha(const GemmParams& params) { return params.alpha; }

// ---- Batches of matrices where they lie, whose labels would tell no more than their shapes ----

struct Batches {
  Batches(const GemmParams& params, const Shape& a, const Shape& b)
      : m(a[a.ndim() - (params.transpose_a ? 1 : 2)]),
        k(a[a.ndim() - (params.transpose_a ? 2 : 1)]),
        n(b[b.ndim() - (params.transpose_b ? 2 : 1)]),
        count(batch_size(a)) {}
  int64_t m, k, n, count;
};

bool are_batches(const GemmParams& params, const Shape& a, const Shape& b) {
  const int ndim = a.ndim(), rows = ndim - 2;
  if (rows < 0 || b.ndim() != ndim || (params.axis != -2 && params.axis != rows)) return false;
  if (a[params.transpose_a ? rows : rows + 1] != b[params.transpose_b ? rows + 1 : rows])
    return false;
  for (int i = 0; i < rows; ++i)
    if (a[i] != b[i]) return false;
  return true;
}
bool are_of_products(DType type, const Shape& a, const Shape& b) {
  return (type == DType::kFloat32 || type == DType::kFloat64) && a.size() > 0 && b.size() > 0;
}
bool accepts_batches(const GemmParams& params, const Signature& signature) {
  const Shape &a = signature.in[0].shape(), &b = signature.in[1].shape();
  return are_of_products(signature.in[0].dtype, a, b) && are_batches(params, a, b);
}

void multiply_batches(const GemmParams& params, const Tensor& a, const Tensor& b, const Tensor& c,
                      double beta) {
  const Batches p(params, a.shape(), b.shape());
  const auto run = [&]<class T>(T alpha) {
    multiply_batch(params.transpose_a, params.transpose_b, p.m, p.n, p.k, p.count, a.as<T>(),
                   b.as<T>(), c.as<T>(), alpha, static_cast<T>(beta));
  };
  c.dtype == DType::kFloat32 ? run(static_cast<float>(params.alpha)) : run(params.alpha);
}

// `shaped` has the shape of the result. Where it is false the general way says what is wrong, if
// anything is.
bool infer_batches(const GemmParams& params, Infer& infer, InferArg shaped) {
  const InferArg a = infer.in(0), b = infer.in(1);
  if (!a.known() || !b.known() || !are_batches(params, a.shape(), b.shape())) return false;
  const Batches p(params, a.shape(), b.shape());
  shaped.set_shape(with_matrix(a.shape(), p.m, p.n));
  return true;
}

using Gemm2 = Multilinear<GemmParams, gemm_labels, alpha>;

void common_params(OpBuilder<GemmParams>& op) {
  op.param("transpose_a", &GemmParams::transpose_a, false, "Whether A is transposed.")
      .param("transpose_b", &GemmParams::transpose_b, false, "Whether B is transposed.")
      .param("alpha", &GemmParams::alpha, 1.0, "Factor of the product.");
}
void gemm2_params(OpBuilder<GemmParams>& op) {
  common_params(op);
  op.param("axis", &GemmParams::axis, -2, "Dimension that holds the rows.");
}
void gemm2_batches(OpBuilder<GemmParams>& op) {
  op.cpu(
      [](const GemmParams& params, KernelContext& context) {
        multiply_batches(params, context.in(0), context.in(1), context.out(0), 0.0);
      },
      accepts_batches, "batches");
  Gemm2::infer_shortcut = [](const GemmParams& params, Infer& infer) {
    return infer_batches(params, infer, infer.out(0));
  };
}

[[maybe_unused]] const bool gemm2 = Gemm2::define_pair(
    "_linalg_gemm2", "_backward_linalg_gemm2", {"linalg_gemm2"}, "Product of batches of matrices.",
    "A", "B", kFloating, gemm2_params, gemm2_batches);

void infer_gemm(const GemmParams& params, Infer& infer) {
  infer.one_dtype();
  infer.in(2).same_shape(infer.out(0));
  if (!infer_batches(params, infer, infer.in(2)) && infer.in(0).rank_known() &&
      infer.in(1).rank_known()) {
    const Shape shapes[2] = {infer.in(0).shape(), infer.in(1).shape()};
    try {
      const LabelLists lists = gemm_labels(params, shapes);
      if (shapes[0].known() && shapes[1].known())
        infer.in(2).set_shape(label_problem(lists, shapes).out_shape);
      else
        infer_labelled(lists, infer);
    } catch (const LabelError& error) {
      fail(infer, error);
    }
  }
  infer.in(2).same_shape(infer.out(0));
}

void gemm_cpu(const GemmParams& params, KernelContext& context) {
  const Shape shapes[2] = {context.in(0).shape(), context.in(1).shape()};
  LabelProblem problem = label_problem(gemm_labels(params, shapes), shapes);
  const Labelled in[2] = {{context.in(0), std::move(problem.in[0])},
                          {context.in(1), std::move(problem.in[1])}};
  const Tensor& out = context.out(0);
  if (const GpuTable* gpu = gpu_table(context); gpu != nullptr && params.beta != 0.0) {
    // Products of a GPU add nothing to what is there.
    NativeStream* stream = context.stream()->native();
    const auto bytes = static_cast<std::size_t>(out.size()) * dtype_size(out.dtype);
    const Tensor product{context.workspace(bytes), out.shape_ptr, out.dtype};
    contract(problem.dims, in, {product, problem.out}, context, params.alpha);
    gpu->binary_scalar(stream, gpu->multiply, context.in(2), params.beta, false, out);
    return gpu->accumulate(stream, out, product);
  }
  copy_memory(context, context.in(2).data, out.data,
              static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  contract(problem.dims, in, {out, problem.out}, context, params.alpha, params.beta);
}

void gemm_batches_cpu(const GemmParams& params, KernelContext& context) {
  const Tensor &added = context.in(2), &out = context.out(0);
  if (added.data != out.data)
    std::memcpy(out.data, added.data, static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  multiply_batches(params, context.in(0), context.in(1), out, params.beta);
}

MX_OP(_linalg_gemm, GemmParams)
.doc("alpha op(A) op(B) + beta C, for batches of matrices.")
    .alias("linalg_gemm")
    .input("A", "Batch of matrices.")
    .input("B", "Batch of matrices.")
    .input("C", "What is added.")
    .param("transpose_a", &GemmParams::transpose_a, false, "Whether A is transposed.")
    .param("transpose_b", &GemmParams::transpose_b, false, "Whether B is transposed.")
    .param("alpha", &GemmParams::alpha, 1.0, "Factor of the product.")
    .param("beta", &GemmParams::beta, 1.0, "Factor of C.")
    .param("axis", &GemmParams::axis, -2, "Dimension that holds the rows.")
    .dtypes(kFloating)
    .inplace(2, 0)
    .infer(infer_gemm)
    .cpu(gemm_batches_cpu, accepts_batches, "batches")
    .cpu(gemm_cpu)
    .grad([](const GemmParams& params, Grad& grad) {
      Gradients result(3);
      Attrs attrs = grad.attrs();
      std::erase_if(attrs, [](const auto& attr) { return attr.first == "beta"; });
      for (int i = 0; i < 2; ++i) {
        if (!grad.wants(i)) continue;
        Attrs wrt = attrs;
        wrt.emplace_back("wrt", std::to_string(i));
        result[static_cast<std::size_t>(i)] =
            apply("_backward_linalg_gemm2", {grad.dout(0), grad.in(0), grad.in(1)}, std::move(wrt));
      }
      if (grad.wants(2)) result[2] = grad.dout(0) * params.beta;
      return result;
    });

struct SyrkParams {
  bool transpose;
  double alpha;
};

void infer_syrk(const SyrkParams& params, Infer& infer) {
  infer.one_dtype();
  if (!infer_matrix(infer, 0, false)) return;
  const int64_t n = infer.in(0).dim(infer.in(0).ndim() - (params.transpose ? 1 : 2));
  infer.out(0).set_shape(with_matrix(infer.in(0).shape(), n, n));
}

GemmParams as_gemm(const SyrkParams& params) {
  return {params.transpose, !params.transpose, params.alpha, 0.0, -2, 0};
}

void syrk_cpu(const SyrkParams& params, KernelContext& context) {
  const Shape shapes[2] = {context.in(0).shape(), context.in(0).shape()};
  const GemmParams gemm = as_gemm(params);
  LabelProblem problem = label_problem(gemm_labels(gemm, shapes), shapes);
  const Labelled in[2] = {{context.in(0), std::move(problem.in[0])},
                          {context.in(0), std::move(problem.in[1])}};
  contract(problem.dims, in, {context.out(0), problem.out}, context, params.alpha);
}

MX_OP(_linalg_syrk, SyrkParams)
.doc("alpha A A^T, or alpha A^T A, for batches of matrices.")
    .alias("linalg_syrk")
    .input("A", "Batch of matrices.")
    .param("transpose", &SyrkParams::transpose, false, "Whether the first factor is transposed.")
    .param("alpha", &SyrkParams::alpha, 1.0, "Factor of the product.")
    .dtypes(kFloating)
    .infer(infer_syrk)
    .cpu(
        [](const SyrkParams& params, KernelContext& context) {
          multiply_batches(as_gemm(params), context.in(0), context.in(0), context.out(0), 0.0);
        },
        [](const SyrkParams&, const Signature& signature) {
          const Tensor& in = signature.in[0];
          return are_of_products(in.dtype, in.shape(), in.shape());
        },
        "batches")
    .cpu(syrk_cpu)
    .grad([](const SyrkParams& params, Grad& grad) {
      const Attrs plain{{"alpha", scalar_text(params.alpha)}};
      const Attrs turned{{"alpha", scalar_text(params.alpha)},
                         {params.transpose ? "transpose_b" : "transpose_a", "1"}};
      const Value dy = grad.dout(0), a = grad.in(0);
      const auto product = [&](const Attrs& attrs) {
        return params.transpose ? apply("_linalg_gemm2", {a, dy}, attrs)
                                : apply("_linalg_gemm2", {dy, a}, attrs);
      };
      return Gradients{product(plain) + product(turned)};
    });

[[maybe_unused]] const bool portable = mark_portable({"_linalg_gemm", "_linalg_syrk"});
[[maybe_unused]] const bool products =
    mark_products({"_linalg_gemm", "_linalg_gemm2", "_linalg_syrk"});

}  // namespace
}  // namespace mxnet
