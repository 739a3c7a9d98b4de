// SPDX-License-Identifier: Apache-2.0
// Memory of packed weights, which outlive the call that packs them.
#pragma once
#include <cstddef>

#include "device/cpu/host_memory.h"

namespace mxnet {

// Memory for floats that vectors are read from: huge pages where there are many of them.
class PackedFloats {
 public:
  // Throws Error(kOutOfMemory).
  explicit PackedFloats(std::size_t bytes);
  ~PackedFloats() { host_release(data_, bytes_); }
  PackedFloats(const PackedFloats&) = delete;
  PackedFloats& operator=(const PackedFloats&) = delete;
  void* data() const { return data_; }
  float* floats() const { return static_cast<float*>(data_); }
  std::size_t bytes() const { return bytes_; }

 private:
  void* const data_;
  const std::size_t bytes_;
};

}  // namespace mxnet
