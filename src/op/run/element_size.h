// SPDX-License-Identifier: Apache-2.0
// Kernels that only move elements are compiled once a size, not once a type.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/dtype.h"
#include "base/error.h"

namespace mxnet {

// The unsigned integer of as many bytes, 1, 2, 4 or 8.
template <std::size_t bytes>
using UnsignedOf = std::conditional_t<
    bytes == 1, uint8_t,
    std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

// fn(a value of the unsigned type of this size).
template <class F>
void dispatch_bytes(std::size_t bytes, const F& fn) {
  switch (bytes) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    default:
      MX_ASSERT(bytes == 8);
      return fn(uint64_t{});
  }
}
template <class F>
void dispatch_size(DType dtype, const F& fn) {
  dispatch_bytes(dtype_size(dtype), fn);
}

}  // namespace mxnet
