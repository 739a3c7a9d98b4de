// SPDX-License-Identifier: Apache-2.0
// Says which bytes change places, and compiles the loop for each instruction set.
#include "op/moving/reverse_short_rows.h"

#include <array>
#include <cstdint>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
namespace {

constexpr int64_t kVector = 16;

#define MX_SIMD_FILE "op/moving/reverse_short_rows.inc"
#include "base/simd_wide_targets.h"

}  // namespace

namespace {

// Rows whose elements are words, or which keep them as they are, go by registers of these from a
// register on. `place_in_row(at)`: which word of its row becomes word `at`.
template <class Place>
bool exchange_as_words(const char* in, char* out, int64_t width, int64_t rows, bool rows_reversed,
                       const Place& place_in_row) {
  constexpr int64_t kWord = sizeof(uint32_t);
  const auto run = MX_SIMD_WIDE_AT(simd_level(), exchange_words<>);
  const int64_t size = simd_level() == 2 ? 64 : 32, bytes = rows * width;
  if (run == nullptr || width % kWord != 0 || bytes < size) return false;
  const int64_t words = width / kWord, whole = size / width * width;
  std::array<uint32_t, 64 / kWord> order{};
  for (int64_t i = 0; i < whole / kWord; ++i) {
    const int64_t row = i / words * words;
    const int64_t from = rows_reversed ? size / kWord - row - words : row;
    order[static_cast<std::size_t>(i)] = static_cast<uint32_t>(from + place_in_row(i - row));
  }
  const char* const first = rows_reversed ? in + bytes - size : in;
  run(first, rows_reversed ? -whole : whole, out, order.data(), whole, bytes);
  return true;
}

}  // namespace

bool reverse_short_rows(const char* in, char* out, int64_t width, int64_t element, int64_t rows) {
  const auto run = MX_SIMD_WIDE_AT(simd_level(), exchange);
  if (run == nullptr || width >= kVector) return false;
  if (element == sizeof(uint32_t) &&
      exchange_as_words(in, out, width, rows, false,
                        [words = width / element](int64_t at) { return words - 1 - at; }))
    return true;
  const int64_t whole = kVector / width * width;
  std::array<char, kVector> order{};
  for (int64_t i = 0; i < whole; ++i) {
    const int64_t row = i / width * width, at = i - row, byte = at % element;
    order[static_cast<std::size_t>(i)] =
        static_cast<char>(row + width - element - (at - byte) + byte);
  }
  run(in, whole, out, order.data(), whole, rows * width);
  return true;
}

bool reverse_order_of_short_rows(const char* in, char* out, int64_t width, int64_t rows) {
  const auto run = MX_SIMD_WIDE_AT(simd_level(), exchange);
  if (run == nullptr || width >= kVector || rows * width < kVector) return false;
  if (exchange_as_words(in, out, width, rows, true, [](int64_t at) { return at; })) return true;
  const int64_t whole = kVector / width * width;
  std::array<char, kVector> order{};
  for (int64_t i = 0; i < whole; ++i)
    order[static_cast<std::size_t>(i)] =
        static_cast<char>(kVector - (i / width + 1) * width + i % width);
  run(in + rows * width - kVector, -whole, out, order.data(), whole, rows * width);
  return true;
}

}  // namespace mxnet
