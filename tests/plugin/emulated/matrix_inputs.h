// SPDX-License-Identifier: Apache-2.0
// Matrices for tests of linear algebra on both devices.
#pragma once
#include <string_view>
#include <vector>

#include "tests/plugin/emulated/both_devices.h"

namespace mxnet::testing::gpu {

constexpr double kTolerance = 1e-4;
inline const char* const kMatrixTypes[] = {"float32", "float64"};
inline const char* const kFlags[] = {"False", "True"};

inline Input filled(const Shape& shape, float low = -2, float high = 2) {
  return {random_values(shape.size(), low, high), shape};
}
inline void expect_op(const char* op, std::vector<Input> inputs, const Attrs& attrs = {}) {
  for (const char* dtype : kMatrixTypes) {
    for (Input& input : inputs)
      if (std::string_view(input.dtype) != "int32") input.dtype = dtype;
    expect_same_outputs(op, inputs, attrs, kTolerance);
  }
}

// Matrices with a strong diagonal, which have factors and inverses.
inline Input regular(int64_t batch, int64_t n) {
  Input input = filled(Shape{batch, n, n}, -1, 1);
  for (int64_t i = 0; i < batch * n; ++i)
    input.values[static_cast<std::size_t>(i * n + i % n)] += static_cast<float>(n) + 1;
  return input;
}

}  // namespace mxnet::testing::gpu
