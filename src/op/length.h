// SPDX-License-Identifier: Apache-2.0
// Arithmetic of rules of shapes on lengths of dimensions, some of which nobody knows yet: what is
// computed of an unknown length is unknown, 0 times it as well. What int64 does not hold is kMost,
// which is no array's.
#pragma once
#include <cstdint>
#include <limits>

#include "base/shape.h"

namespace mxnet::length {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

constexpr bool known(int64_t length) { return length >= 0; }

constexpr int64_t plus(int64_t a, int64_t b) {
  if (!known(a) || !known(b)) return Shape::kUnknownDim;
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

constexpr int64_t times(int64_t a, int64_t b) {
  if (!known(a) || !known(b)) return Shape::kUnknownDim;
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

// Rounded down. REQUIRES: parts > 0.
constexpr int64_t over(int64_t length, int64_t parts) {
  return known(length) ? length / parts : Shape::kUnknownDim;
}

}  // namespace mxnet::length
