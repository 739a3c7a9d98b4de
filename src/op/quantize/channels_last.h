// SPDX-License-Identifier: Apache-2.0
// Bytes of images in plans: oneDNN's convolutions have channels last, and what lies between them
// keeps that.
#pragma once
#include "op/prepared_kernel.h"
#include "op/quantize/range.h"
#include "op/quantize/window.h"

namespace mxnet::quantize {

LayoutRef channels_last_layout(const Tensor& tensor);

struct BytePooling {
  Windows windows;
  bool max, whole_kernel;  // means of all of the kernel, or of what of it lies in the image
};
// In the layout that the image comes in. Null for plain rows, and where oneDNN does not compute it.
PreparedKernelRef prepare_pooling(const BytePooling& pooling, const Signature& signature,
                                  const LayoutRef& layout);

// Maxima, where every window has pixels. Null for other layouts than channels last.
PreparedKernelRef prepare_max_pooling(const Windows& windows, const Signature& signature,
                                      const LayoutRef& layout);

// Real images as bytes, so many for one, of a range that is known beforehand. Null where oneDNN
// does not do it.
PreparedKernelRef prepare_quantize(float factor, const Range& range, const Signature& signature,
                                   const LayoutRef& layout);

}  // namespace mxnet::quantize
