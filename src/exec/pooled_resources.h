// SPDX-License-Identifier: Apache-2.0
// Scratch memory that a kernel runs with.
#pragma once
#include "base/error.h"
#include "exec/capture_scope.h"
#include "op/inline_vector.h"
#include "op/kernel.h"
#include "storage/storage.h"

namespace mxnet {

// Blocks of one kernel run, returned to the pool at its end. For one thread.
class PooledResources : public KernelResources {
 public:
  // `stream`: what uses the memory; null for the host.
  PooledResources(Device device, Stream* stream) : device_(device), stream_(stream) {}
  ~PooledResources() override {
    for (const Block& block : blocks_) Storage::get().release(block, stream_);
  }
  PooledResources(const PooledResources&) = delete;
  PooledResources& operator=(const PooledResources&) = delete;

  void* workspace(std::size_t bytes) override {
    // For no stream: to wait for another stream's work, as ours would for its memory, ends a
    // recording.
    if (CapturedMemory* graph = CaptureScope::current(); graph != nullptr && device_.is_gpu())
      return graph->take(bytes, device_, nullptr);
    return blocks_.emplace_back(Storage::get().allocate(bytes, device_, "workspace", stream_)).data;
  }
  Tensor make_out(int, const Shape&) override { MX_ASSERT(false); }

 private:
  const Device device_;
  Stream* const stream_;
  InlineVector<Block, 2> blocks_;
};

}  // namespace mxnet
