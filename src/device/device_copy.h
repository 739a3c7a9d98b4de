// SPDX-License-Identifier: Apache-2.0
// Copies between any two devices, for code that does not care which api moves the bytes.
#pragma once
#include <cstddef>

#include "base/device.h"
#include "device/stream.h"

namespace mxnet {

// Copies `bytes` bytes. If a GPU takes part, on `stream`, which belongs to `to` if that is a GPU,
// else to `from`; without a stream, and between host memories, the copy is done when the call
// returns, and its errors are thrown here.
void copy(void* to_data, Device to, const void* from_data, Device from, std::size_t bytes,
          Stream* stream = nullptr);

}  // namespace mxnet
