// SPDX-License-Identifier: Apache-2.0
// Arrays side by side along one dimension of a larger one: joining and splitting are the two
// directions of one copy.
#pragma once
#include <span>

#include "op/kernel.h"

namespace mxnet {

enum class PartsCopy : uint8_t { kJoin, kSplit };

// `parts` lie in order along dimension `axis` of `whole` and fill it. Their own shapes do not
// matter: each holds whole.size() / size of that dimension elements for each of its positions.
void copy_parts(const Tensor& whole, int axis, std::span<const Tensor> parts, PartsCopy direction,
                KernelContext& context);

}  // namespace mxnet
