// SPDX-License-Identifier: Apache-2.0
// Weights as float32, whatever floating type of at most 32 bits they have: what packs them reads
// them once.
#pragma once
#include <utility>
#include <vector>

#include "op/kernel.h"
#include "op/loops/half_arrays.h"

namespace mxnet {

// Borrows the array's memory where nothing is converted.
class Floats {
 public:
  // REQUIRES: the type is float32, float16 or bfloat16.
  explicit Floats(const Tensor& tensor) {
    if (tensor.dtype == DType::kFloat32) {
      data_ = tensor.as<float>();
      return;
    }
    widened_.resize(static_cast<std::size_t>(tensor.size()));
    widen(tensor.dtype, tensor.data, widened_.data(), tensor.size());
    data_ = widened_.data();
  }
  const float* data() const { return data_; }
  // The converted numbers, if any, for somebody who keeps them; data() is theirs from then on.
  std::vector<float> take() { return std::move(widened_); }

 private:
  std::vector<float> widened_;
  const float* data_;
};

}  // namespace mxnet
