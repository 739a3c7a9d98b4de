// SPDX-License-Identifier: Apache-2.0
// By way of a block that goes past the caches, or with lines asked for before.
#include "op/moving/past_caches.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/owned_lines.h"
#include "base/stream_copy.h"
#include "op/run/sweep.h"

namespace mxnet {
namespace {

// Asks for [from, from + bytes) behind the next page, so far ahead that the processor, which
// fetches on in a page, but not from one to the next, has the lines in time.
void ask_for_inputs(const char* from, int64_t bytes) noexcept {
  constexpr int64_t kAhead = 4096;
  for (int64_t i = 0; i < bytes; i += int64_t{kLineBytes}) __builtin_prefetch(from + kAhead + i);
}

}  // namespace

void write_in_blocks(void* out, int64_t element, int64_t count, int64_t whole, int64_t read,
                     bool apart, bool light, const ReadsAlong& inputs, ResultLoop results) {
  const int64_t written = whole * element;
  char* to = static_cast<char*>(out);
  if (owns_lines(written)) {
    const bool near = count != whole && written < kOwnedByManyFrom;
    if (!apart || !light || near) return results.run(results.loop, 0, out, count);
    return write_owned(to, element, count, [&](int64_t first, int64_t n) {
      for (const ReadAlong& input : inputs)
        ask_for_inputs(static_cast<const char*>(input.from) + first * input.element,
                       n * input.element);
      results.run(results.loop, first, to + first * element, n);
    });
  }
  const int64_t most = bytes_past_caches(count == whole ? 1 : 2);  // two or more threads
  // What is read again and again leaves room for what is written, as in copies. A smaller result
  // would be written sooner past the caches than into them, but whoever reads it next pays more.
  const bool fits = read + written < (read < written ? 3 * most / 2 : most);
  const auto write = [&](int64_t first, int64_t n) {
    results.run(results.loop, first, to + first * element, n);
  };
  if (count == 0) return;
  // What computes for long gains nothing.
  const Sweep sweep(light ? (read + written) / (whole / count) : 0);
  const int64_t together = Sweep::kBlockBytes / element;
  if (!apart || fits || written < kPastCaches)
    return sweep.blocks(count, light ? together : count, write);
  // As many lines as the processor fetches ahead of a loop before it pauses to store. Beginning
  // with a line: a block that lies across lines, as it did in one of four processes, took twice as
  // long (Zen 4).
  constexpr int64_t kBytes = 4096;
  const int64_t block = kBytes / element;
  alignas(kLineBytes) std::array<std::byte, kBytes> buffer;
  // A single array is read by so short loops that the processor may not get ahead of them: a matrix
  // and a column took twice as long in two of three processes (Zen 5). Of two arrays it does, and
  // asking takes a tenth more.
  const ReadAlong& alone = inputs[inputs[0].element == 0 ? 1 : 0];
  const bool asks = light && (inputs[0].element == 0) != (inputs[1].element == 0);
  sweep.blocks(count, together, [&](int64_t first, int64_t taken) {
    for (int64_t i = first; i < first + taken; i += block) {
      const int64_t n = std::min(block, first + taken - i);
      if (asks)
        ask_for_inputs(static_cast<const char*>(alone.from) + (i + block) * alone.element,
                       n * alone.element);
      results.run(results.loop, i, buffer.data(), n);
      stream_copy(to + i * element, buffer.data(), static_cast<std::size_t>(n * element));
    }
  });
  finish_stream_copies();
}

}  // namespace mxnet
