// SPDX-License-Identifier: Apache-2.0
// Where operands lie, and how large a tile is.
#include "op/fused/pointwise_tiles.h"

#include <algorithm>

#include "base/stream_copy.h"
#include "op/run/single_shape.h"

namespace mxnet {
namespace {

// The call of a kernel costs as much as a few hundred simple elements, whatever the chain reads.
constexpr int64_t kLeastElements = 2048;
// Slots begin where vector loads may, and tiles where a line of the caches does.
constexpr std::size_t kAlign = 64;

}  // namespace

TiledCall::TiledCall(const PointwiseChain& chain, const KernelContext& context, bool streams)
    : chain_(chain), context_(context), size_(chain.shape.size()) {
  for (int o = 0; o < context.num_out(); ++o) {
    const Tensor& out = context.out(o);
    last_read_.push_back(find_last_read(out));
    const bool past = bytes(out.dtype, false) >= static_cast<std::size_t>(kPastCaches);
    if (streams && past && last_read_.back() < 0) streams_ |= uint32_t{1} << o;
  }
}

int TiledCall::find_last_read(const Tensor& out) const {
  int last = -1;
  const auto* begin = out.as<std::byte>();
  const std::byte* const end = begin + bytes(out.dtype, false);
  for (std::size_t i = 0; i < chain_.inputs.size(); ++i) {
    const PointwiseInput& input = chain_.inputs[i];
    const auto* in = context_.in(static_cast<int>(i)).as<std::byte>();
    const std::byte* const in_end = in + bytes(input.dtype, input.single);
    if (in >= end || begin >= in_end) continue;
    const bool same = in == begin && in_end == end;
    last = std::max(last, same ? input.last_read : static_cast<int>(chain_.steps.size()));
  }
  return last;
}

int64_t TiledCall::elements(std::size_t tile_bytes) const {
  const std::size_t most = tile_bytes / chain_.element_bytes / kAlign * kAlign;
  return std::max(kLeastElements, static_cast<int64_t>(most));
}

std::size_t TiledCall::slot_bytes(int64_t elements) const {
  return (static_cast<std::size_t>(elements) * chain_.widest + kAlign - 1) / kAlign * kAlign;
}

std::size_t TiledCall::room(int64_t elements) const {
  const int slots = chain_.num_slots + (streams() ? context_.num_out() : 0);
  return static_cast<std::size_t>(slots) * slot_bytes(elements);
}

TileRunner::TileRunner(const TiledCall& call, int64_t most_elements, std::byte* room,
                       KernelResources& resources)
    : call_(call),
      resources_(resources),
      slots_(room),
      slot_bytes_(call.slot_bytes(most_elements)) {
  for (const PointwiseOperand& operand : call.chain().operands) {
    operands_.push_back({nullptr, operand.single ? &single_shape() : &tile_, operand.dtype});
    origins_.push_back(origin_of(operand));
  }
}

TileRunner::Origin TileRunner::slot(int number) const {
  return {slots_ + static_cast<std::size_t>(number) * slot_bytes_, 0};
}

// One tile fewer to touch where a result lies in the place of the output that follows from it.
TileRunner::Origin TileRunner::origin_of(const PointwiseOperand& operand) const {
  const std::size_t width = dtype_size(operand.dtype);
  if (operand.input >= 0)
    return {call_.context().in(operand.input).as<std::byte>(), operand.single ? 0 : width};
  const int output = operand.output;
  if (output < 0 || operand.from < call_.last_read_in_place_of(output)) return slot(operand.slot);
  if (call_.streams(output)) return slot(call_.chain().num_slots + output);
  return {call_.context().out(output).as<std::byte>(), width};
}

void TileRunner::place(int64_t first, int64_t count) {
  tile_ = Shape{count};
  for (std::size_t i = 0; i < operands_.size(); ++i)
    operands_[i].data = origins_[i].begin + static_cast<std::size_t>(first) * origins_[i].step;
}

void TileRunner::stream_outputs(int64_t first, int64_t count) const {
  for (int o = 0; o < call_.context().num_out(); ++o) {
    if (!call_.streams(o)) continue;
    const Tensor& out = call_.context().out(o);
    const std::size_t width = dtype_size(out.dtype);
    stream_copy(out.as<std::byte>() + static_cast<std::size_t>(first) * width,
                slot(call_.chain().num_slots + o).begin, static_cast<std::size_t>(count) * width);
  }
  finish_stream_copies();
}

}  // namespace mxnet
