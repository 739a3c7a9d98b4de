// SPDX-License-Identifier: Apache-2.0
// What the C ABI says of an array, and how it numbers types and devices.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "check.h"
#include "mxnet/c_api.h"

namespace mxnet::python {

constexpr int kCpu = 1;
constexpr int kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kUint8 = 3, kInt32 = 4, kInt8 = 5,
              kInt64 = 6, kBool = 7, kBfloat16 = 12;
constexpr int kMostDims = 16;  // of arrays that are indexed here
using Dims = std::array<int64_t, kMostDims>;

// Throws what asking throws.
struct ArrayFacts {
  explicit ArrayFacts(NDArrayHandle array) {
    check(MXNDArrayGetStorageType(array, &storage_type));
    check(MXNDArrayGetContext(array, &device, &device_number));
    check(MXNDArrayGetDType(array, &dtype));
    const int64_t* known = nullptr;
    check(MXNDArrayGetShapeEx64(array, &ndim, &known));
    ndim = ndim > kMostDims ? -1 : ndim;
    std::copy_n(known, std::max(ndim, 0), dims.begin());  // the next call would overwrite them
  }
  // Has dimensions that fit, and elements.
  bool has_elements() const { return ndim > 0 && std::find(dims.begin(), end(), 0) == end(); }
  // And is dense, on the CPU.
  bool plain() const { return storage_type == 0 && device == kCpu && has_elements(); }
  // Of the dimensions in [from, to).
  int64_t size(int from, int to) const {
    int64_t product = 1;
    for (int i = from; i < to; ++i) product *= dims[static_cast<std::size_t>(i)];
    return product;
  }
  // REQUIRES: ndim >= 0.
  Dims::const_iterator end() const { return dims.begin() + ndim; }

  int storage_type = 0, device = 0, device_number = 0, ndim = 0, dtype = 0;
  Dims dims{};
};

}  // namespace mxnet::python
