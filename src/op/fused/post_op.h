// SPDX-License-Identifier: Apache-2.0
// What may be done to a result before it is stored: activations and sums, and which operators they
// are.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "op/products/layer_post.h"

namespace mxnet {

class OpDef;

// One step on the result.
struct PostOp {
  enum class Kind : uint8_t {
    kSum,   // adds the other input
    kRelu,  // alpha: slope below zero
    kSigmoid,
    kTanh,
    kSoftRelu,
    kClip,  // to [alpha, beta]
    kElu,   // alpha: slope
    kGelu,
    kLinear,  // alpha * x + beta
  };
  Kind kind;
  float alpha = 0, beta = 0;
};

// What the operator does to each element of its one array, if that is one of these.
std::optional<PostOp> activation_of(const OpDef& op, const void* params);

// The steps as our own loops know them, without the arrays that they read: a sum, then an
// activation. None for others.
std::optional<LayerPost> layer_post(std::span<const PostOp> steps);

}  // namespace mxnet
