// SPDX-License-Identifier: Apache-2.0
// Kernels that only move elements are compiled once a size, not once a type.
#pragma once
#include <cstdint>

#include "base/dtype.h"
#include "base/error.h"

namespace mxnet {

// fn(a value of the unsigned type of this size).
template <class F>
void dispatch_size(DType dtype, const F& fn) {
  switch (dtype_size(dtype)) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    default:
      MX_ASSERT(dtype_size(dtype) == 8);
      return fn(uint64_t{});
  }
}

}  // namespace mxnet
