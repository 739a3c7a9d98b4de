// SPDX-License-Identifier: Apache-2.0
// Dense arrays of numbers that stand for rows, columns or vertices.
#pragma once
#include <cstdint>
#include <vector>

#include "op/kernel.h"
#include "op/run/dispatch.h"

namespace mxnet {

// Of any numeric type, fractions cut off. What int64 cannot hold is -1, which is in no range.
inline std::vector<int64_t> read_indices(const Tensor& tensor) {
  std::vector<int64_t> result(static_cast<std::size_t>(tensor.size()));
  dispatch_dtype<kNumeric>(tensor.dtype, "indices", [&]<class T>(TypeTag<T>) {
    const T* from = tensor.as<const T>();
    for (std::size_t i = 0; i < result.size(); ++i) {
      if constexpr (std::is_integral_v<T>) {
        result[i] = static_cast<int64_t>(from[i]);  // NOLINT(bugprone-signed-char-misuse): int8
      } else {
        const auto value = static_cast<double>(from[i]);
        const bool fits = value > -9.2e18 && value < 9.2e18;
        result[i] = fits ? static_cast<int64_t>(value) : -1;
      }
    }
  });
  return result;
}

}  // namespace mxnet
