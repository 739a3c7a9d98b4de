// SPDX-License-Identifier: Apache-2.0
// Says which bytes change places, and compiles the loop for each instruction set.
#include "op/moving/reverse_short_rows.h"

#include <array>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
namespace {

constexpr int64_t kVector = 16;

#define MX_SIMD_FILE "op/moving/reverse_short_rows.inc"
#include "base/simd_wide_targets.h"

}  // namespace

bool reverse_short_rows(const char* in, char* out, int64_t width, int64_t element, int64_t rows) {
  const auto run = MX_SIMD_WIDE_AT(simd_level(), exchange);
  if (run == nullptr || width >= kVector) return false;
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
  const int64_t whole = kVector / width * width;
  std::array<char, kVector> order{};
  for (int64_t i = 0; i < whole; ++i)
    order[static_cast<std::size_t>(i)] =
        static_cast<char>(kVector - (i / width + 1) * width + i % width);
  run(in + rows * width - kVector, -whole, out, order.data(), whole, rows * width);
  return true;
}

}  // namespace mxnet
