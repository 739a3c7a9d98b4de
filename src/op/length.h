// SPDX-License-Identifier: Apache-2.0
// Arithmetic of rules of shapes on lengths of dimensions, some of which nobody knows yet: what is
// computed of an unknown length is unknown, 0 times it as well.
#pragma once
#include <cstdint>

#include "base/shape.h"

namespace mxnet::length {

constexpr bool known(int64_t length) { return length >= 0; }

constexpr int64_t plus(int64_t a, int64_t b) {
  return known(a) && known(b) ? a + b : Shape::kUnknownDim;
}

constexpr int64_t times(int64_t a, int64_t b) {
  return known(a) && known(b) ? a * b : Shape::kUnknownDim;
}

// Rounded down. REQUIRES: parts > 0.
constexpr int64_t over(int64_t length, int64_t parts) {
  return known(length) ? length / parts : Shape::kUnknownDim;
}

}  // namespace mxnet::length
