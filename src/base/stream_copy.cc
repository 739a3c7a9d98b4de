// SPDX-License-Identifier: Apache-2.0
// Non-temporal stores, a line at a time and in as few of them as the processor can: while it reads
// other memory it writes out lines that are not full yet, each at the price of a whole line
// (docs/memory_kernels.md, "Zen 4").
#include "base/stream_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/owned_lines.h"
#include "base/prefetch.h"
#include "base/processor_facts.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
namespace {

// Bytes in front of the first line that begins at `to` or behind.
std::size_t before_line(const char* to) noexcept {
  return (kLineBytes - reinterpret_cast<std::uintptr_t>(to) % kLineBytes) % kLineBytes;
}

#if defined(__x86_64__)

// From a line on: a string that is written across lines takes a quarter longer.
void move_string(char* to, const char* from, std::size_t bytes) noexcept {
  const std::size_t head = std::min(bytes, before_line(to));
  std::memcpy(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

// How far ahead of a copy out of memory it is asked for: by itself the processor begins anew in
// each page.
constexpr std::size_t kAhead = 4096;
template <bool kFetches>
[[gnu::always_inline]] inline void fetch_ahead(const char* from) {
  if constexpr (kFetches) __builtin_prefetch(from + kAhead);
}

template <class Vector>
Vector* vector_at(char* at) {
  return reinterpret_cast<Vector*>(at);
}
template <class Vector>
const Vector* vector_at(const char* at) {
  return reinterpret_cast<const Vector*>(at);
}

template <bool kFetches>
void lines_by_quarters(char* to, std::ptrdiff_t step, const char* from,
                       std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += step, from += kLineBytes) {
    fetch_ahead<kFetches>(from);
    for (std::size_t i = 0; i < kLineBytes; i += sizeof(__m128i))
      _mm_stream_si128(vector_at<__m128i>(to + i), _mm_loadu_si128(vector_at<__m128i>(from + i)));
  }
}

template <bool kFetches>
__attribute__((target("avx"))) void lines_by_halves(char* to, std::ptrdiff_t step, const char* from,
                                                    std::size_t lines) noexcept {
  constexpr std::size_t kHalf = kLineBytes / 2;
  for (; lines > 0; --lines, to += step, from += kLineBytes) {
    fetch_ahead<kFetches>(from);
    const __m256i first = _mm256_loadu_si256(vector_at<__m256i>(from));
    const __m256i second = _mm256_loadu_si256(vector_at<__m256i>(from + kHalf));
    _mm256_stream_si256(vector_at<__m256i>(to), first);
    _mm256_stream_si256(vector_at<__m256i>(to + kHalf), second);
  }
}

template <bool kFetches>
__attribute__((target("avx512f"))) void whole_lines(char* to, std::ptrdiff_t step, const char* from,
                                                    std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += step, from += kLineBytes) {
    fetch_ahead<kFetches>(from);
    _mm512_stream_si512(vector_at<__m512i>(to), _mm512_loadu_si512(from));
  }
}

// Lines asked for ahead at both ends, for the caches to write out.
__attribute__((target("avx"))) void owned_lines(char* to, const char* from, std::size_t lines,
                                                std::ptrdiff_t to_ahead,
                                                std::ptrdiff_t from_ahead) noexcept {
  constexpr std::size_t kHalf = kLineBytes / 2;
  for (; lines > 0; --lines, to += kLineBytes, from += kLineBytes) {
    __builtin_prefetch(from + from_ahead);
    prefetch_for_write(to + to_ahead);
    const __m256i first = _mm256_loadu_si256(vector_at<__m256i>(from));
    const __m256i second = _mm256_loadu_si256(vector_at<__m256i>(from + kHalf));
    _mm256_storeu_si256(vector_at<__m256i>(to), first);
    _mm256_storeu_si256(vector_at<__m256i>(to + kHalf), second);
  }
}

void lines_back_by_quarters(char* to, const char* from, std::size_t lines) noexcept {
  for (std::size_t i = lines * kLineBytes; i > 0;) {
    i -= sizeof(__m128i);
    _mm_store_si128(vector_at<__m128i>(to + i), _mm_loadu_si128(vector_at<__m128i>(from + i)));
  }
}
__attribute__((target("avx"))) void lines_back_by_halves(char* to, const char* from,
                                                         std::size_t lines) noexcept {
  for (std::size_t i = lines * kLineBytes; i > 0;) {
    i -= sizeof(__m256i);
    _mm256_store_si256(vector_at<__m256i>(to + i),
                       _mm256_loadu_si256(vector_at<__m256i>(from + i)));
  }
}
__attribute__((target("avx512f"))) void whole_lines_back(char* to, const char* from,
                                                         std::size_t lines) noexcept {
  for (std::size_t i = lines * kLineBytes; i > 0;) {
    i -= sizeof(__m512i);
    _mm512_store_si512(to + i, _mm512_loadu_si512(from + i));
  }
}
void move_lines_back(char* to, const char* from, std::size_t lines) noexcept {
  static const auto move = simd_features().avx512f ? whole_lines_back
                           : simd_features().avx   ? lines_back_by_halves
                                                   : lines_back_by_quarters;
  move(to, from, lines);
}

template <bool kFetches>
void move_lines(char* to, std::ptrdiff_t step, const char* from, std::size_t lines) noexcept {
  static const auto move = simd_features().avx512f ? whole_lines<kFetches>
                           : simd_features().avx   ? lines_by_halves<kFetches>
                                                   : lines_by_quarters<kFetches>;
  move(to, step, from, lines);
}

#else

void move_string(char* to, const char* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}
void move_lines_back(char* to, const char* from, std::size_t lines) noexcept {
  for (std::size_t i = lines * kLineBytes; i > 0;) {
    i -= kLineBytes;
    std::memcpy(to + i, from + i, kLineBytes);
  }
}

template <bool>
void move_lines(char* to, std::ptrdiff_t step, const char* from, std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += step, from += kLineBytes) std::memcpy(to, from, kLineBytes);
}
void owned_lines(char* to, const char* from, std::size_t lines, std::ptrdiff_t,
                 std::ptrdiff_t) noexcept {
  std::memcpy(to, from, lines * kLineBytes);
}

#endif

template <class Move>
void move_bytes(char* to, const char* from, std::size_t bytes, const Move& move) noexcept {
  if (bytes == 0) return;  // of arrays that may have no memory
  const std::size_t head = std::min(bytes, before_line(to));
  const std::size_t lines = (bytes - head) / kLineBytes, done = head + lines * kLineBytes;
  if (head != 0) std::memcpy(to, from, head);  // a call counts where rows are short
  move(to + head, from + head, lines);
  if (done != bytes) std::memcpy(to + done, from + done, bytes - done);
}
template <bool kFetches>
void stream_bytes(char* to, const char* from, std::size_t bytes) noexcept {
  move_bytes(to, from, bytes, [](char* line, const char* source, std::size_t lines) {
    move_lines<kFetches>(line, kLineBytes, source, lines);
  });
}

// The last lines of a row ask for the first ones of the next.
void move_owned(char* to, std::ptrdiff_t to_step, const char* from, std::ptrdiff_t from_step,
                std::size_t bytes) noexcept {
  move_bytes(to, from, bytes, [&](char* line, const char* source, std::size_t lines) {
    const std::size_t before = lines - std::min(lines, kOwnedAhead / kLineBytes);
    const auto done = static_cast<std::ptrdiff_t>(before * kLineBytes);
    owned_lines(line, source, before, kOwnedAhead, kOwnedAhead);
    owned_lines(line + done, source + done, lines - before, to_step - done, from_step - done);
  });
}

}  // namespace

void stream_lines(void* to, std::ptrdiff_t step, const void* from, std::size_t lines) noexcept {
  move_lines<false>(static_cast<char*>(to), step, static_cast<const char*>(from), lines);
}

void stream_copy(void* to, const void* from, std::size_t bytes) noexcept {
  stream_bytes<false>(static_cast<char*>(to), static_cast<const char*>(from), bytes);
}

void stream_rows(void* to, std::ptrdiff_t to_step, const void* from, std::ptrdiff_t from_step,
                 std::size_t bytes, int64_t rows) noexcept {
  auto* row = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  const bool owned = owns_lines(kOwnedFrom);
  for (; rows > 0; --rows, row += to_step, source += from_step) {
    owned ? move_owned(row, to_step, source, from_step, bytes)
          : stream_bytes<true>(row, source, bytes);
  }
}

void stream_from_memory(void* to, const void* from, std::size_t bytes) noexcept {
  const auto step = static_cast<std::ptrdiff_t>(bytes);
  stream_rows(to, step, from, step, bytes, 1);
}

void copy_part(void* to, const void* from, std::size_t bytes, std::size_t whole) noexcept {
  // From what a second-level cache holds, read and written, up to where most of the result has left
  // the third-level one; of less and more, loops are as fast or faster.
  constexpr std::size_t kLongString = 512 << 10, kTooLong = 2 * kPastCaches;
  if (bytes >= kLongString && whole < kTooLong && processor_facts().moves_strings)
    return move_string(static_cast<char*>(to), static_cast<const char*>(from), bytes);
  if (whole < static_cast<std::size_t>(kPastCaches) && !owns_lines(static_cast<int64_t>(whole))) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    return;
  }
  stream_from_memory(to, from, bytes);
  finish_stream_copies();
}

void copy_backwards(void* to, const void* from, std::size_t bytes) noexcept {
  auto* const start = static_cast<char*>(to);
  const auto* const source = static_cast<const char*>(from);
  const std::size_t head = std::min(bytes, before_line(start));
  const std::size_t lines = (bytes - head) / kLineBytes, done = head + lines * kLineBytes;
  if (done != bytes) std::memcpy(start + done, source + done, bytes - done);
  move_lines_back(start + head, source + head, lines);
  if (head != 0) std::memcpy(start, source, head);
}

void finish_stream_copies() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace mxnet
