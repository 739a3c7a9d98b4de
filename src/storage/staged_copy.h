// SPDX-License-Identifier: Apache-2.0
// Copies between pageable host memory and GPUs, which reach pinned memory only: in pieces, one in
// the hands of the host while the other is on the link.
#pragma once
#include <cstddef>

#include "base/device.h"
#include "device/stream.h"

namespace mxnet {

// As copy() of device/device_copy.h, but large ends in pageable memory go through pinned blocks of
// the pool. Towards a GPU the pageable memory has been read when the call returns, and the work may
// still be on `stream`; from a GPU it has been written.
void staged_copy(void* to_data, Device to, const void* from_data, Device from, std::size_t bytes,
                 Stream* stream = nullptr);

}  // namespace mxnet
