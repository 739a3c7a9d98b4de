// SPDX-License-Identifier: Apache-2.0
// The structures of the DLPack standard before its versioned form: what MXNDArrayFromDLPack takes.
#pragma once
#include <cstdint>

namespace mxnet::python {

struct DLDevice {
  int32_t type;  // 1 is host memory
  int32_t id;
};
struct DLDataType {
  uint8_t code;  // 0 signed, 1 unsigned, 2 floating, 6 bool
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // null = row-major
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};
static_assert(sizeof(DLManagedTensor) == 64);

}  // namespace mxnet::python
