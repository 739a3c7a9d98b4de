// SPDX-License-Identifier: Apache-2.0
// Our names of activations in those of oneDNN.
#include "op/fused/post_ops_onednn.h"

#include <bit>

#include "base/error.h"

namespace mxnet::onednn {

Eltwise eltwise_of(const PostOp& op) {
  using dnnl::algorithm;
  switch (op.kind) {
    case PostOp::Kind::kRelu:
      return {algorithm::eltwise_relu, op.alpha, 0};
    case PostOp::Kind::kSigmoid:
      return {algorithm::eltwise_logistic, 0, 0};
    case PostOp::Kind::kTanh:
      return {algorithm::eltwise_tanh, 0, 0};
    case PostOp::Kind::kSoftRelu:
      return {algorithm::eltwise_soft_relu, 1, 0};
    case PostOp::Kind::kClip:
      return {algorithm::eltwise_clip, op.alpha, op.beta};
    case PostOp::Kind::kElu:
      return {algorithm::eltwise_elu, op.alpha, 0};
    case PostOp::Kind::kGelu:
      return {algorithm::eltwise_gelu_erf, 0, 0};
    case PostOp::Kind::kLinear:
      return {algorithm::eltwise_linear, op.alpha, op.beta};
    case PostOp::Kind::kSum:
      break;
  }
  MX_ASSERT(false);
}

dnnl::post_ops post_ops(std::span<const PostOp> ops) {
  dnnl::post_ops chain;
  for (const PostOp& op : ops) {
    if (op.kind == PostOp::Kind::kSum) {
      chain.append_sum();
      continue;
    }
    const Eltwise eltwise = eltwise_of(op);
    chain.append_eltwise(eltwise.algorithm, eltwise.alpha, eltwise.beta);
  }
  return chain;
}

void add_to(Key& key, std::span<const PostOp> ops) {
  for (const PostOp& op : ops)
    key.add(static_cast<int64_t>(op.kind))
        .add(std::bit_cast<int32_t>(op.alpha))
        .add(std::bit_cast<int32_t>(op.beta));
}

}  // namespace mxnet::onednn
