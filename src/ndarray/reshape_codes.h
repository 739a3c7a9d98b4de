// SPDX-License-Identifier: Apache-2.0
// The target shapes of reshape, in which numbers below one are instructions.
#pragma once
#include <cstdint>
#include <span>

#include "base/shape.h"

namespace mxnet {

// 0: this dimension of `shape`; -1: what is left over (once); -2: all remaining dimensions of
// `shape`; -3: the product of the next two; -4 a b: the next one split in two, either of which may
// be -1. With `reverse` everything is read from the right. Of unknown dimensions what follows is
// unknown. The result need not have as many elements as `shape`; that is the caller's to check.
// Throws Error(kValue) naming both shapes.
Shape resolve_reshape(const Shape& shape, std::span<const int64_t> target, bool reverse);

}  // namespace mxnet
