// SPDX-License-Identifier: Apache-2.0
// While a thread records a graph: scratch memory of kernels is recorded with them, so it stays
// theirs as long as the graph lives.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "storage/storage.h"

namespace mxnet {

// Blocks of one graph, and of all recordings that it may stand for in turn: one runs at a time, so
// each takes what the others have. Used by one thread at a time.
class CapturedMemory {
 public:
  CapturedMemory() = default;
  ~CapturedMemory() {
    for (const Block& block : blocks_) Storage::get().release(block);
  }
  CapturedMemory(const CapturedMemory&) = delete;
  CapturedMemory& operator=(const CapturedMemory&) = delete;

  // The next recording begins.
  void rewind() { next_ = 0; }
  void* take(std::size_t bytes, Device device, Stream* stream) {
    if (next_ == blocks_.size() || blocks_[next_].capacity < bytes) {
      blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(next_),
                     Storage::get().allocate(bytes, device, "graph workspace", stream));
    }
    return blocks_[next_++].data;
  }
  std::size_t bytes() const {
    std::size_t total = 0;
    for (const Block& block : blocks_) total += block.capacity;
    return total;
  }

 private:
  std::vector<Block> blocks_;
  std::size_t next_ = 0;  // of the recording under way
};

// The calling thread records as long as it lives. Scopes do not nest.
class CaptureScope {
 public:
  explicit CaptureScope(CapturedMemory& memory) { current_ = &memory; }
  ~CaptureScope() { current_ = nullptr; }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;

  // Null where the thread does not record.
  static CapturedMemory* current() { return current_; }

 private:
  static thread_local CapturedMemory* current_;
};

}  // namespace mxnet
