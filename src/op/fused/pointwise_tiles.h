// SPDX-License-Identifier: Apache-2.0
// A chain's steps over one tile of its arrays after another.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "op/fused/pointwise.h"
#include "op/inline_vector.h"
#include "op/kernel.h"

namespace mxnet {

// What all threads know of a call. Immutable.
class TiledCall {
 public:
  // `streams`: outputs that the caches cannot hold are written past them.
  TiledCall(const PointwiseChain& chain, const KernelContext& context, bool streams);

  const PointwiseChain& chain() const { return chain_; }
  const KernelContext& context() const { return context_; }
  int64_t size() const { return size_; }
  // Of tiles of about so many bytes, all their arrays together.
  int64_t elements(std::size_t tile_bytes) const;
  // Memory for the results between steps of a thread, in tiles of so many elements: a multiple of
  // 64.
  std::size_t room(int64_t elements) const;
  // Bytes of a place for a result of any type.
  std::size_t slot_bytes(int64_t elements) const;

  // Output o goes through a place in cache, and from there past the caches.
  bool streams(int o) const { return (streams_ >> o & 1) != 0; }
  bool streams() const { return streams_ != 0; }
  // The last step that reads an input which lies where output o does: -1 where none does, and
  // beyond all steps where the output's elements do not lie upon the input's one by one.
  int last_read_in_place_of(int o) const { return last_read_.span()[static_cast<std::size_t>(o)]; }

 private:
  int find_last_read(const Tensor& out) const;
  std::size_t bytes(DType dtype, bool single) const {
    return (single ? 1 : static_cast<std::size_t>(size_)) * dtype_size(dtype);
  }

  const PointwiseChain& chain_;
  const KernelContext& context_;
  const int64_t size_;
  uint32_t streams_ = 0;  // a bit for each output
  InlineVector<int, 32> last_read_;
};

// One thread's, where its kernels run. Nothing but the addresses of what a tile is in the arrays
// changes from tile to tile.
class TileRunner {
 public:
  // `room`: as much as the call says, aligned to 64.
  TileRunner(const TiledCall& call, int64_t most_elements, std::byte* room,
             KernelResources& resources);
  TileRunner(const TileRunner&) = delete;
  TileRunner& operator=(const TileRunner&) = delete;

  // `after_step()` follows each step.
  template <class F>
  void run(int64_t first, int64_t count, const F& after_step) {
    place(first, count);
    const KernelContext& call = call_.context();
    const Tensor* operands = operands_.data();
    for (const PointwiseStep& step : call_.chain().steps) {
      const std::span<const Tensor> in(operands, step.in.size());
      KernelContext context(in, {operands + in.size(), 1}, call.device(), call.stream(),
                            call.training(), resources_);
      step.kernel->run(step.params.get(), context);
      after_step();
      operands += in.size() + 1;
    }
    if (call_.streams()) stream_outputs(first, count);
  }

 private:
  // Of an operand: its element 0, and the bytes from there to the next; 0 where a tile always lies
  // at the same place.
  struct Origin {
    std::byte* begin;
    std::size_t step;
  };
  // All of a chain of binary operators as long as chains get.
  static constexpr std::size_t kOperands = 192;

  Origin origin_of(const PointwiseOperand& operand) const;
  Origin slot(int number) const;
  void place(int64_t first, int64_t count);
  void stream_outputs(int64_t first, int64_t count) const;

  const TiledCall& call_;
  KernelResources& resources_;
  std::byte* const slots_;
  const std::size_t slot_bytes_;
  Shape tile_;
  InlineVector<Tensor, kOperands> operands_;  // as the chain's
  InlineVector<Origin, kOperands> origins_;
};

}  // namespace mxnet
