// SPDX-License-Identifier: Apache-2.0
// FullyConnected, alone and with a relu behind it, and its gradients: matrix products with the
// bias, the relu and the bias's gradient as their epilogues.
#include "op/nn/fully_connected.h"
#include "op/fused/dense.h"
#include "op/nn/trilinear_grad.h"
#include "op/reducing/evaluate.h"
#include "plugin/cuda/dense_product.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/product_steps.h"

namespace mxnet::cuda {
namespace {

// MXNET_FC_TRUE_FP16 is about these.
GemmCall product(DType dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                 const void* a, const void* b, void* c) {
  GemmCall call = dense_product(dtype, transpose_a, transpose_b, m, n, k, a, b, c);
  call.fully_connected = true;
  return call;
}

// Inputs: data, weight[, bias]. The result is rounded once where cuBLASLt has the epilogue.
void layer(const FullyConnectedParams& params, int weight, bool relu, KernelContext& context) {
  const Tensor &x = context.in(0), &w = context.in(weight), &y = context.out(0);
  const DenseSizes s(params, x.shape(), w.shape());
  GemmCall call = product(y.dtype, false, true, s.rows, s.hidden, s.depth, x.data, w.data, y.data);
  if (!params.no_bias) call.bias = context.in(weight + 1).data;
  gemm_with(context.stream()->native(), call, {.relu = relu}, context);
}
void forward(const FullyConnectedParams& params, KernelContext& context) {
  layer(params, 1, false, context);
}
void fused(const FusedDenseParams& params, KernelContext& context) {
  layer(params.dense, params.weight_input(), !params.post_ops.empty(), context);
}

// Inputs: gradient of the output, data, weight.
void backward(const FullyConnectedParams& params, KernelContext& context) {
  const Tensor &dy = context.in(0), &x = context.in(1), &w = context.in(2);
  const DenseSizes s(params, x.shape(), w.shape());
  NativeStream* stream = context.stream()->native();
  int o = 0;
  if (wants(params.wanted, kWantData)) {
    gemm(stream,
         product(dy.dtype, false, false, s.rows, s.depth, s.hidden, dy.data, w.data,
                 context.out(o++).data),
         context);
  }
  const bool bias = wants(params.wanted, kWantBias);
  if (wants(params.wanted, kWantWeight)) {
    const GemmCall call = product(dy.dtype, true, false, s.hidden, s.depth, s.rows, dy.data, x.data,
                                  context.out(o++).data);
    // Rows without elements have a weight without elements, and still a bias.
    const bool together = bias && s.depth > 0;
    gemm_with(stream, call, {.sums_a = together ? context.out(o).data : nullptr}, context);
    if (together) return;
  }
  if (!bias) return;
  const Shape rows{s.rows, s.hidden};
  constexpr uint32_t kRows = 1;  // axis 0
  const ReduceCall sum{.reduction = Reduction::sum, .wide = false};
  reduce(stream, sum, {dy.data, &rows, dy.dtype}, kRows, context.out(o), context);
}

}  // namespace

void add_fully_connected(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<FullyConnectedParams, forward>("FullyConnected"));
  rows->push_back(kernel_row<FullyConnectedParams, backward>("_backward_FullyConnected"));
  rows->push_back(kernel_row<FusedDenseParams, fused>(FusedDenseParams::kOnGpu));
}

}  // namespace mxnet::cuda
