// SPDX-License-Identifier: Apache-2.0
// Scratch memory of the host's pool for the time of a scope: what malloc gives and takes back would
// be new pages each time.
#pragma once
#include <cstddef>

#include "storage/storage.h"

namespace mxnet {

// Not shared between threads.
class ScopedBlock {
 public:
  // Throws Error(kOutOfMemory). `tag` lives as long as the process.
  ScopedBlock(std::size_t bytes, const char* tag)
      : block_(Storage::get().allocate(bytes, Device::cpu(), tag)) {}
  ~ScopedBlock() { Storage::get().release(block_); }
  ScopedBlock(const ScopedBlock&) = delete;
  ScopedBlock& operator=(const ScopedBlock&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(block_.data);
  }

 private:
  const Block block_;
};

}  // namespace mxnet
