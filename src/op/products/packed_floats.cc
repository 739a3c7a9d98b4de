// SPDX-License-Identifier: Apache-2.0
// What is said where the host has no such memory.
#include "op/products/packed_floats.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet {

PackedFloats::PackedFloats(std::size_t bytes) : data_(host_allocate(bytes)), bytes_(bytes) {
  if (data_ == nullptr && bytes > 0)
    throw Error(ErrorCode::kOutOfMemory, "packed weights",
                fmt::format("given {} bytes to pack, the host has no memory left for them", bytes));
}

}  // namespace mxnet
