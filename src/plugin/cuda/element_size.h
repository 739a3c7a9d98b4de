// SPDX-License-Identifier: Apache-2.0
// For kernels that only move elements: all types of a size share one.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mxnet::cuda {

// run(a zero of the unsigned integer of so many bytes).
template <class Run>
void with_element_of(std::size_t bytes, const Run& run) {
  switch (bytes) {
    case 1:
      return run(uint8_t{});
    case 2:
      return run(uint16_t{});
    case 4:
      return run(uint32_t{});
    default:
      return run(uint64_t{});
  }
}

}  // namespace mxnet::cuda
