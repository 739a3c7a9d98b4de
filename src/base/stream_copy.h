// SPDX-License-Identifier: Apache-2.0
// Copies that do not read first what they write: past the caches, for results too big to stay in
// them until somebody reads them, or by moves of whole strings, where the processor decides.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mxnet {

// What caches exchange with memory.
inline constexpr std::size_t kLineBytes = 64;
// Bytes of a whole result from which on it is written past the caches: with its inputs it is more
// than they hold.
inline constexpr int64_t kPastCaches = int64_t{16} << 20;

// The same of a copy by so many threads: bytes read and written together. Two read and write the
// third-level cache at twice the rate of one, memory at the same, so that what does not quite fit
// is still faster in it: several threads go past it only with twice as many bytes as one ("Copies
// on a Zen 5" in docs/memory_kernels.md).
constexpr int64_t bytes_past_caches(int threads) {
  return (threads == 1 ? 3 * kPastCaches : 6 * kPastCaches) / 2;
}

// As memcpy. Other threads see the bytes after finish_stream_copies(). Any alignment. Thread-safe.
void stream_copy(void* to, const void* from, std::size_t bytes) noexcept;
// The same out of memory instead of a cache: what is read is asked for ahead. What is written goes
// by way of the caches on processors that are faster so (base/owned_lines.h).
void stream_from_memory(void* to, const void* from, std::size_t bytes) noexcept;
// The same of rows of `bytes`, so many bytes apart.
void stream_rows(void* to, std::ptrdiff_t to_step, const void* from, std::ptrdiff_t from_step,
                 std::size_t bytes, int64_t rows) noexcept;
// As memcpy, for a part of `whole` bytes: a long part as one string, which some processors move as
// fast as the better of the two ways, else past the caches where the whole is too big for them, and
// finished then.
void copy_part(void* to, const void* from, std::size_t bytes, std::size_t whole) noexcept;
// As memcpy, from the last byte to the first: the way back of a walk whose results stay in the
// caches.
void copy_backwards(void* to, const void* from, std::size_t bytes) noexcept;
// Copies lines that follow each other to places `step` bytes apart. REQUIRES: `to` begins a line
// and `step` is a multiple of kLineBytes.
void stream_lines(void* to, std::ptrdiff_t step, const void* from, std::size_t lines) noexcept;
// Orders this thread's copies before whatever it writes next.
void finish_stream_copies() noexcept;

}  // namespace mxnet
