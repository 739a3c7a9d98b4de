// SPDX-License-Identifier: Apache-2.0
// Operators that are activations, by name and parameters.
#include "op/fused/post_op.h"

#include "op/norm/activation_params.h"
#include "op/op_def.h"
#include "op/params/dense_and_sparse.h"

namespace mxnet {
namespace {

using Kind = PostOp::Kind;

std::optional<PostOp> of_activation(const ActivationParams& params) {
  switch (params.act_type) {
    case ActivationRow::relu:
      return PostOp{Kind::kRelu};
    case ActivationRow::sigmoid:
      return PostOp{Kind::kSigmoid};
    case ActivationRow::tanh:
      return PostOp{Kind::kTanh};
    case ActivationRow::softrelu:
      return PostOp{Kind::kSoftRelu};
    default:
      return std::nullopt;
  }
}

std::optional<PostOp> of_leaky(const LeakyParams& params) {
  switch (params.act_type) {
    case LeakyKind::kLeaky:
      return PostOp{Kind::kRelu, params.slope};
    case LeakyKind::kElu:
      return PostOp{Kind::kElu, params.slope};
    case LeakyKind::kGelu:
      return PostOp{Kind::kGelu};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<PostOp> activation_of(const OpDef& op, const void* params) {
  const std::string& name = op.name();
  if (name == "relu") return PostOp{Kind::kRelu};
  if (name == "sigmoid") return PostOp{Kind::kSigmoid};
  if (name == "tanh") return PostOp{Kind::kTanh};
  if (name == "Activation") return of_activation(*static_cast<const ActivationParams*>(params));
  if (name == "LeakyReLU") return of_leaky(*static_cast<const LeakyParams*>(params));
  if (name == "clip") {
    const auto& clip = *static_cast<const ClipParams*>(params);
    if (!(clip.a_min <= clip.a_max)) return std::nullopt;  // oneDNN would let the lower one count
    return PostOp{Kind::kClip, clip.a_min, clip.a_max};
  }
  return std::nullopt;
}

std::optional<LayerPost> layer_post(std::span<const PostOp> steps) {
  LayerPost post;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const PostOp& step = steps[i];
    const bool last = i + 1 == steps.size();
    if (step.kind == PostOp::Kind::kSum && i == 0) continue;
    if (!last) return std::nullopt;
    if (step.kind == PostOp::Kind::kClip) {
      post.low = step.alpha;
      post.high = step.beta;
    } else if (step.kind == PostOp::Kind::kRelu && step.alpha == 0) {
      post.low = 0;
    } else if (step.kind == PostOp::Kind::kRelu) {
      post.slope = step.alpha;
    } else {
      return std::nullopt;
    }
  }
  return post;
}

}  // namespace mxnet
