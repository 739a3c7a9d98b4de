// SPDX-License-Identifier: Apache-2.0
// Arrays handed to and taken from other frameworks in one process without a copy. The structures
// are those of the DLPack standard (before its versioned form), whose layout every producer shares.
#pragma once
#include <cstdint>

#include "ndarray/ndarray.h"

namespace mxnet {

struct DLDevice {
  int32_t type;  // 1 cpu, 2 cuda, 3 pinned host memory
  int32_t id;
};
struct DLDataType {
  uint8_t code;  // 0 signed, 1 unsigned, 2 floating, 4 bfloat, 6 bool
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null = row-major
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);  // may be null; called once by the taker
};
static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64);

// The array as a tensor that keeps the memory alive until its deleter is called. Waits for the last
// write. Throws Error(kType) for a sparse array.
DLManagedTensor* to_dlpack(const NDArray& array);

// An array on the tensor's memory. The tensor's deleter runs once, on any thread, after the last
// operation on that memory; `transient` says that *tensor itself will not live so long: it is
// copied, and the deleter gets the copy. On an error nothing has been taken over and the deleter is
// not run: Error(kType) for an element type that there is none of here, Error(kValue) for memory
// that is not row-major (it could only be copied, and then writes would go unseen) or a device that
// is not here.
NDArray from_dlpack(DLManagedTensor* tensor, bool transient);

}  // namespace mxnet
