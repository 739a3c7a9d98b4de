// SPDX-License-Identifier: Apache-2.0
// Lines that a loop will write, asked for before: for processors on which a store that finds its
// line in memory holds up those behind it, and stores past the caches are no faster.
#pragma once
#include <algorithm>
#include <cstdint>

namespace mxnet {

// Bytes of a result from which on it pays: what is smaller lies in the second-level cache, where it
// costs time. In the third-level cache it makes no difference, and something else may have pushed
// the result out of there.
inline constexpr int64_t kOwnedFrom = int64_t{3} << 19;
// The same where several threads write it: each has a part that lies in a cache of its own, so that
// more stays there.
inline constexpr int64_t kOwnedByManyFrom = int64_t{4} << 20;
// How far ahead they are asked for, and bytes of a block, whose lines are asked for at once. The
// distance hardly matters; larger blocks gain less.
inline constexpr int64_t kOwnedAhead = 2048, kOwnedBlock = 1024;

// Whether a loop should ask for what it writes of a result of so many bytes (the processor:
// reads_what_it_writes in base/processor_facts.h). The numbers above were measured on Intel's
// Cascade Lake ("Lines asked for before they are written" in docs/memory_kernels.md has the
// figures).
bool owns_lines(int64_t bytes) noexcept;

// Asks for the lines of [at, at + bytes) behind the next kOwnedAhead bytes.
void own_lines_ahead(const void* at, int64_t bytes) noexcept;

// write(first, n) writes n elements of `element` bytes from the first-th of `out` on, `count` in
// all: a block at a time, the lines of a later one asked for before.
template <class F>
void write_owned(const char* out, int64_t element, int64_t count, const F& write) {
  const int64_t block = std::max<int64_t>(1, kOwnedBlock / element);
  for (int64_t i = 0; i < count; i += block) {
    const int64_t n = std::min(block, count - i);
    own_lines_ahead(out + i * element, n * element);
    write(i, n);
  }
}

}  // namespace mxnet
