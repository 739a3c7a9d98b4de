// SPDX-License-Identifier: Apache-2.0
// What _contrib_BilinearResize2D is told, and what a place of its result is made of, for the CPU
// and for kernels.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/host_device.h"

namespace mxnet {

enum class ResizeMode : int32_t { kSize, kOddScale, kLike, kEvenDown, kEvenUp, kOddDown, kOddUp };

struct ResizeParams {
  int32_t height, width;
  std::optional<float> scale_height, scale_width;
  ResizeMode mode;
  bool align_corners;

  int num_inputs() const { return mode == ResizeMode::kLike ? 2 : 1; }
};

// For place i of the result along one axis: two places of the image and what the second weighs.
template <class T>
struct ResizeTap {
  int64_t low, high;
  T weight;

  MX_HOST_DEVICE ResizeTap(int64_t i, int64_t in, int64_t out, bool align_corners) {
    T at = 0;  // one line alone is the first, wherever its middle is: as in 1.x
    if (align_corners && out > 1) {
      at = static_cast<T>(i) * (static_cast<T>(in - 1) / static_cast<T>(out - 1));
    } else if (out > 1) {
      at = (static_cast<T>(i) + T(0.5)) * (static_cast<T>(in) / static_cast<T>(out)) - T(0.5);
      at = std::max(at, T{0});
    }
    low = std::min(static_cast<int64_t>(at), in - 1);
    high = std::min(low + 1, in - 1);
    weight = at - static_cast<T>(low);
  }
};

// Of the two lines that y's taps are.
template <class T>
MX_HOST_DEVICE T blend(const ResizeTap<T>& y, const ResizeTap<T>& x, const T* top,
                       const T* bottom) {
  const T above = top[x.low] + x.weight * (top[x.high] - top[x.low]);
  const T below = bottom[x.low] + x.weight * (bottom[x.high] - bottom[x.low]);
  return above + y.weight * (below - above);
}

}  // namespace mxnet
