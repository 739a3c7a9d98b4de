// SPDX-License-Identifier: Apache-2.0
// Ranges of quantized arrays, which lie on the device: the host does not wait for them.
#pragma once
#include "op/kernel.h"
#include "op/quantize/range.h"
#include "plugin/cuda/row_words.h"

namespace mxnet {
namespace cuda {

// The two ends of a range, on the device.
struct RangeEnds {
  float *low, *high;
  MX_DEVICE quantize::Range operator()() const { return {*low, *high}; }
  MX_DEVICE float magnitude() const { return (*this)().magnitude(); }
  MX_DEVICE void write(const quantize::Range& range) const {
    *low = range.min;
    *high = range.max;
  }
};
inline RangeEnds ends_in(const KernelContext& context, int low) {
  return {context.in(low).as<float>(), context.in(low + 1).as<float>()};
}
inline RangeEnds ends_out(const KernelContext& context) {
  return {context.out(1).as<float>(), context.out(2).as<float>()};
}

}  // namespace cuda
}  // namespace mxnet
