// SPDX-License-Identifier: Apache-2.0
// What turns pixels into what networks read.
#pragma once
#include <cstdint>
#include <vector>

namespace mxnet::image {

inline constexpr float kWhite = 255.0f;

struct NormalizeParams {
  std::vector<float> mean, std;
};

inline float of_channel(const std::vector<float>& values, int64_t channel) {
  return values[values.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
}

}  // namespace mxnet::image
