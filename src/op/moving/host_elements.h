// SPDX-License-Identifier: Apache-2.0
// Elements in the program's own memory, in any order and of any type, as front ends get them from
// other libraries.
#pragma once
#include <array>
#include <cstdint>

#include "base/dtype.h"
#include "base/shape.h"
#include "ndarray/ndarray.h"

namespace mxnet {

struct HostElements {
  const void* data;  // of the first one
  DType dtype;
  std::array<int64_t, Shape::kMaxDims> steps;  // elements between neighbours of each dimension
};

// Blocks. Puts elements into a dense array in whose shape they are, in its type: as Cast converts
// them, on the caller's thread. Returns whether a finite float64 became an infinite float32.
bool copy_from_host(const HostElements& from, NDArray& to);
// The same at once, as an operation of the engine, where that is to wait for nobody: an array of
// the host that no operation uses, and elements outside of it. False: nothing is written.
bool copy_from_host_if_free(const HostElements& from, const NDArray& to);

}  // namespace mxnet
