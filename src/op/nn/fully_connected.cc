// SPDX-License-Identifier: Apache-2.0
// FullyConnected and the operator of its gradients, on BLAS, oneDNN or loops of our own.
#include "op/nn/fully_connected.h"

#include <fmt/format.h>

#include <algorithm>

#include "op/length.h"
#include "op/nn/bias.h"
#include "op/nn/plain_arrays.h"
#include "op/nn/trilinear_grad.h"
#include "op/op_builder.h"
#include "op/op_cost.h"
#include "op/products/few_rows.h"
#include "op/products/products.h"

namespace mxnet {
namespace {

// c (m x n) = op(a) op(b) + beta * c, all of them dense.
template <class T>
void product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a,
             const T* b, T beta, T* c) {
  const int64_t start[] = {0};
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (beta == T{0}) std::fill_n(c, m * n, T{0});
    return;
  }
  multiply(Products<T>{transpose_a, transpose_b, m, n, k, a, transpose_a ? m : k, b,
                       transpose_b ? k : n, c, n, T{1}, beta, start, start, start});
}

bool accepts_few_rows(const FullyConnectedParams& params, const Signature& signature) {
  return signature.in[0].dtype == DType::kFloat32 &&
         is_few_rows(DenseSizes(params, signature.in[0].shape(), signature.in[1].shape()));
}

void forward_few_rows(const FullyConnectedParams& params, KernelContext& context) {
  LayerPost post;
  if (!params.no_bias) post.bias = context.in(2).as<float>();
  multiply_few_rows(DenseSizes(params, context.in(0).shape(), context.in(1).shape()),
                    context.in(0).as<float>(), context.in(1).as<float>(), post,
                    context.out(0).as<float>());
}

// Weights of float16 are converted while they are read, of any size: else all of them are, first.
bool accepts_few_half_rows(const FullyConnectedParams& params, const Signature& signature) {
  const DenseSizes sizes(params, signature.in[0].shape(), signature.in[1].shape());
  return signature.in[0].dtype == DType::kFloat16 && sizes.rows >= 1 && sizes.rows <= kFewRows &&
         has_half_few_rows();
}

void forward_few_half_rows(const FullyConnectedParams& params, KernelContext& context) {
  PlainArrays<float> arrays(context, false);
  LayerPost post;
  if (!params.no_bias) post.bias = arrays.in(context.in(2));
  multiply_few_rows(DenseSizes(params, context.in(0).shape(), context.in(1).shape()),
                    arrays.in(context.in(0)), context.in(1).as<const float16>(), post,
                    arrays.out(context.out(0)));
  arrays.finish();
}

void forward_plain(const FullyConnectedParams& params, KernelContext& context) {
  const DenseSizes s(params, context.in(0).shape(), context.in(1).shape());
  with_plain_arrays(context, false, [&](auto& arrays) {
    const auto* x = arrays.in(context.in(0));
    using T = std::remove_cvref_t<decltype(*x)>;
    T* y = arrays.out(context.out(0));
    const T* w = arrays.in(context.in(1));
    if (!params.no_bias) {
      const T* b = arrays.in(context.in(2));
      for (int64_t row = 0; row < s.rows; ++row) std::copy_n(b, s.hidden, y + row * s.hidden);
    }
    product(false, true, s.rows, s.hidden, s.depth, x, w, params.no_bias ? T{0} : T{1}, y);
  });
}

void backward_plain(const FullyConnectedParams& params, KernelContext& context) {
  const Tensor& dout = context.in(0);
  const DenseSizes s(params, context.in(1).shape(), context.in(2).shape());
  with_plain_arrays(context, false, [&](auto& arrays) {
    const auto* dy = arrays.in(dout);
    using T = std::remove_cvref_t<decltype(*dy)>;
    int o = 0;
    if (wants(params.wanted, kWantData)) {
      product(false, false, s.rows, s.depth, s.hidden, dy, arrays.in(context.in(2)), T{0},
              arrays.out(context.out(o++)));
    }
    if (wants(params.wanted, kWantWeight)) {
      product(true, false, s.hidden, s.depth, s.rows, dy, arrays.in(context.in(1)), T{0},
              arrays.out(context.out(o++)));
    }
    if (wants(params.wanted, kWantBias)) sum_channels(dout, true, context.out(o), context);
  });
}

void infer_forward(const FullyConnectedParams& params, Infer& infer) {
  infer.one_dtype();
  InferArg data = infer.in(0), out = infer.out(0);
  if (!params.no_bias) infer.in(2).set_shape({params.num_hidden});
  infer.in(1).set_shape({params.num_hidden, Shape::kUnknownDim});
  if (!data.rank_known()) return;
  if (data.ndim() < 1) data.fail("one or more dimensions");
  const int n = data.ndim();
  if (params.flatten) {
    out.set_shape({data.dim(0), params.num_hidden});
    data.set_dim(0, out.dim(0));
    int64_t depth = 1;
    for (int i = 1; i < n; ++i) depth = length::times(depth, data.dim(i));
    infer.in(1).set_dim(1, depth);
    // The only dimension that the weight can tell.
    if (n == 2) data.set_dim(1, infer.in(1).dim(1));
  } else {
    Shape shape = data.shape();
    shape[n - 1] = params.num_hidden;
    out.set_shape(shape);
    for (int i = 0; i + 1 < n; ++i) data.set_dim(i, out.dim(i));
    infer.in(1).set_dim(1, data.dim(n - 1));
    data.set_dim(n - 1, infer.in(1).dim(1));
  }
}

void declare_params(OpBuilder<FullyConnectedParams>& op) {
  op.param("num_hidden", &FullyConnectedParams::num_hidden, "Numbers in a row of the output.");
  op.at_least<int32_t>(1);
  op.param("no_bias", &FullyConnectedParams::no_bias, false, "Whether there is no bias.");
  op.param("flatten", &FullyConnectedParams::flatten, true,
           "Whether all dimensions but the first are one row; otherwise the last alone is.");
}

[[maybe_unused]] const bool defined = [] {
  using Op = OpBuilder<FullyConnectedParams>;
  Op op("FullyConnected");
  op.doc("Rows of `data` times the transpose of `weight`, plus `bias`.")
      .alias("_npx_fully_connected")
      .alias("_sparse_FullyConnected")
      .input("data", "Rows.")
      .input("weight", "A row of factors for each number of the output.")
      .input("bias", "What is added to each row of the output.")
      .num_inputs([](const FullyConnectedParams& p) { return p.no_bias ? 2 : 3; });
  declare_params(op);
  op.dtypes(kFloating)
      .infer(infer_forward)
      .cpu(forward_few_rows, accepts_few_rows, "few_rows")
      .cpu(forward_few_half_rows, accepts_few_half_rows, "few_half_rows")
      .cpu(fully_connected_onednn, fully_connected_onednn_accepts, "onednn")
      .cpu(forward_plain)
      .grad([](const FullyConnectedParams&, Grad& grad) {
        return trilinear_gradient("FullyConnected", grad);
      });

  Op back("_backward_FullyConnected");
  back.doc("Gradients of FullyConnected.")
      .input("dout", "Gradient of the output.")
      .input("data", "Rows of the forward call.")
      .input("weight", "Weight of the forward call.")
      .outputs([](const FullyConnectedParams& p) {
        return __builtin_popcount(static_cast<uint32_t>(p.wanted));
      });
  declare_params(back);
  back.param("wanted", &FullyConnectedParams::wanted,
             "Sum of 1 for data, 2 for weight, 4 for bias.")
      .range<int32_t>(1, 7)
      .dtypes(kFloating)
      .infer([](const FullyConnectedParams& p, Infer& infer) {
        FullyConnectedParams forward = p;
        forward.no_bias = true;
        infer.one_dtype();
        infer.follow(infer_forward, forward, {infer.in(1), infer.in(2)}, {infer.in(0)});
        int o = 0;
        if (wants(p.wanted, kWantData)) infer.out(o++).same_shape(infer.in(1));
        if (wants(p.wanted, kWantWeight)) infer.out(o++).same_shape(infer.in(2));
        if (wants(p.wanted, kWantBias)) infer.out(o).set_shape({p.num_hidden});
      })
      .cpu(fully_connected_backward_onednn, fully_connected_backward_onednn_accepts, "onednn")
      .cpu(backward_plain)
      .grad([](const FullyConnectedParams& p, Grad& grad) {
        return trilinear_backward_gradient("FullyConnected", p.wanted, grad);
      });
  return mark_products({"FullyConnected"});
}();

}  // namespace
}  // namespace mxnet
