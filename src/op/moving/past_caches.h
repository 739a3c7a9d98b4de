// SPDX-License-Identifier: Apache-2.0
// Where loops write results that are too big for the caches to keep until somebody reads them.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/stream_copy.h"

namespace mxnet {

// compute(first, y, n) gives n results from position `first` on; they come to out[0, count).
// `whole` is the size of the whole result, of which a thread may have a part; `read` is how many
// bytes are read for the whole. `apart`: no input is where the result will be.
template <class Out, class F>
void write_results(Out* out, int64_t count, int64_t whole, int64_t read, bool apart,
                   const F& compute) {
  const int64_t written = whole * static_cast<int64_t>(sizeof(Out));
  const int64_t most = bytes_past_caches(count == whole ? 1 : 2);  // two or more threads
  // What is read again and again leaves room for what is written, as in copies. A smaller result
  // would be written sooner past the caches than into them, but whoever reads it next pays more.
  const bool fits = read + written < (read < written ? 3 * most / 2 : most);
  if (!apart || fits || written < kPastCaches) return compute(0, out, count);
  // As many lines as the processor fetches ahead of a loop before it pauses to store. Beginning
  // with a line: a block that lies across lines, as it did in one of four processes, took twice as
  // long (Zen 4).
  constexpr int64_t kBlock = 4096 / static_cast<int64_t>(sizeof(Out));
  alignas(kLineBytes) std::array<Out, kBlock> block;
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t n = std::min(kBlock, count - i);
    compute(i, block.data(), n);
    stream_copy(out + i, block.data(), static_cast<std::size_t>(n) * sizeof(Out));
  }
  finish_stream_copies();
}

}  // namespace mxnet
