// SPDX-License-Identifier: Apache-2.0
// The two innermost loops of a strided copy.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace mxnet {

struct StridedLoop {
  int64_t size, in, out;  // steps in bytes, of either sign
};

// Moves outer.size * inner.size blocks of `width` contiguous bytes. `past_caches`: the whole result
// is too big for them (op/moving/past_caches.h); finish_stream_copies() is the caller's.
using StridedKernel = void (*)(const char* in, char* out, const StridedLoop& outer,
                               const StridedLoop& inner, int64_t width, bool past_caches);

// Whether rows of `width` bytes are worth going past the caches: so many lines that the ends, which
// share lines with other rows, do not matter, or whole lines out of memory that is read on and on
// (`in_order`). `places`: all bits of the places and steps where rows begin.
constexpr bool worth_streaming(int64_t width, bool in_order, int64_t places) {
  return width >= (in_order && places % int64_t{64} == 0 ? 128 : 512);
}

// For any steps.
StridedKernel rows_kernel(int64_t width);

// For outer.in == width and inner.out == width: square tiles are turned in registers.
constexpr bool is_tile_width(int64_t width) {
  return width == 1 || width == 2 || width == 4 || width == 8 || width == 16;
}
// REQUIRES: is_tile_width(width).
StridedKernel tile_kernel(int64_t width);
// The same three loops deep, where a tile writes less than a line, with which the next one of
// `next` goes on. REQUIRES: next.out == inner.size * width.
void join_pieces(const char* in, char* out, const StridedLoop& next, const StridedLoop& outer,
                 const StridedLoop& inner, int64_t width);

// A few elements that lie side by side in the output, and where they are in the input.
class SmallBlock {
 public:
  static constexpr int64_t kMost = 40;  // of twice as many, tiles are faster than one by one

  int64_t element = 0;  // bytes of each: 1, 2, 4 or 8

  int64_t count() const { return count_; }
  // Of element i, in bytes from the first one's.
  int64_t place(int64_t i) const { return places_[static_cast<std::size_t>(i)]; }
  void append(int64_t place) { places_[static_cast<std::size_t>(count_++)] = place; }

 private:
  int64_t count_ = 0;
  std::array<int64_t, kMost> places_;
};
// Moves outer.size * inner.size of them.
void move_small_blocks(const char* in, char* out, const StridedLoop& outer,
                       const StridedLoop& inner, const SmallBlock& block);

}  // namespace mxnet
