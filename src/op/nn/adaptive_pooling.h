// SPDX-License-Identifier: Apache-2.0
// The windows of adaptive pooling, for the CPU and for kernels.
#pragma once
#include <cstdint>

#include "base/host_device.h"
#include "base/shape.h"

namespace mxnet {

struct AdaptiveParams {
  Shape output_size;
  int64_t height() const { return output_size.empty() ? 1 : output_size[0]; }
  int64_t width() const { return output_size.empty() ? 1 : output_size.back(); }
};

// Window i of `count` begins at pixel floor(i * size / count) and ends before pixel
// ceil((i + 1) * size / count).
struct AdaptiveWindows {
  int64_t size, count;
  MX_HOST_DEVICE int64_t begin(int64_t i) const { return i * size / count; }
  MX_HOST_DEVICE int64_t end(int64_t i) const { return ((i + 1) * size + count - 1) / count; }
  // The windows over pixel i are [begin(i), end(i)) of these.
  AdaptiveWindows over_pixels() const { return {count, size}; }
};

}  // namespace mxnet
