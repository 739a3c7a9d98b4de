// SPDX-License-Identifier: Apache-2.0
// What our own loops do to a layer's result before they store it.
#pragma once
#include <limits>

namespace mxnet {

// In this order: + bias, + sum, negative values times `slope`, then limits. The defaults do
// nothing; ReLU is low = 0. A NaN stays one.
struct LayerPost {
  const float* bias = nullptr;  // one a filter or unit
  const void* sum = nullptr;    // in the layout and type of the result, which it may be
  float slope = 1;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

}  // namespace mxnet
