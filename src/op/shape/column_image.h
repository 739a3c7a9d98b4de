// SPDX-License-Identifier: Apache-2.0
// What a kernel sees at each of its places in an image.
#pragma once
#include "base/shape.h"

namespace mxnet {

struct ColumnWindow {
  Shape output_size;  // of col2im only
  Shape kernel, stride, dilate, pad;

  int spatial() const { return kernel.ndim(); }
  int64_t stride_of(int i) const { return stride.empty() ? 1 : stride[i]; }
  int64_t dilate_of(int i) const { return dilate.empty() ? 1 : dilate[i]; }
  int64_t pad_of(int i) const { return pad.empty() ? 0 : pad[i]; }
  // Places of the kernel along spatial dimension i of an image.
  int64_t places(int i, int64_t size) const {
    const int64_t reach = dilate_of(i) * (kernel[i] - 1) + 1;
    return (size + 2 * pad_of(i) - reach) / stride_of(i) + 1;
  }
};

}  // namespace mxnet
