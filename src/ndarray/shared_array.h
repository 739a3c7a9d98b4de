// SPDX-License-Identifier: Apache-2.0
// Arrays in memory that other processes can map: how batches travel from DataLoader workers.
#pragma once
#include "ndarray/ndarray.h"
#include "storage/shared_memory.h"

namespace mxnet {

// What to send for an array on cpu_shared; it is good while this array lives or the descriptor has
// been duplicated. Waits for the last write. Throws Error(kValue) for any other array and for a
// view that does not start where the segment does.
SharedHandle shared_handle(const NDArray& array);

// The array behind a handle that another process sent. Throws Error(kValue) that says why it
// cannot.
NDArray from_shared_handle(SharedHandle handle, const Shape& shape, DType dtype);

}  // namespace mxnet
