// SPDX-License-Identifier: Apache-2.0
// Bytes of a row are added eight at a time, those of columns two in a lane of 16 bits, which is
// emptied before it could be full.
#include "op/reducing/byte_sums.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
namespace {

constexpr int64_t kMostSimdBytes = 64;
// Read from kMostSimdBytes - w + n on, those of the last n of a vector of w bytes.
constexpr auto kLastBytes = [] {
  std::array<uint8_t, 2 * kMostSimdBytes> bytes{};
  std::fill(bytes.begin() + kMostSimdBytes, bytes.end(), uint8_t{255});
  return bytes;
}();
// Bytes whose sum 16 bits hold.
constexpr int64_t kMostRows = 65535 / 255;

#define MX_SIMD_FILE "op/reducing/byte_sums.inc"
#include "base/simd_targets.h"

// Rows that the widest vectors are too long for are left to the baseline's.
int level_for(int64_t n) { return n < kMostSimdBytes ? 0 : simd_level_for_traffic(); }

template <uint8_t most>
int64_t sum_of(const uint8_t* x, int64_t n) {
  if (n >= kLeastByteRow) return MX_SIMD_AT(level_for(n), sum_run<most>)(x, n);
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::min(x[i], most);
  return sum;
}

template <uint8_t most>
void sums_of_rows(const uint8_t* x, int64_t rows, int64_t n, int64_t* values) {
  if (n >= kLeastByteRow) return MX_SIMD_AT(level_for(n), sum_rows<most>)(x, rows, n, values);
  for (int64_t r = 0; r < rows; ++r) values[r] = sum_of<most>(x + r * n, n);
}

}  // namespace

int64_t sum_of_bytes(const uint8_t* x, int64_t n, uint8_t most) {
  return most == kTruth ? sum_of<kTruth>(x, n) : sum_of<kAnyByte>(x, n);
}

void sums_of_rows_of_bytes(const uint8_t* x, int64_t rows, int64_t n, uint8_t most,
                           int64_t* values) {
  most == kTruth ? sums_of_rows<kTruth>(x, rows, n, values)
                 : sums_of_rows<kAnyByte>(x, rows, n, values);
}

void add_rows_of_bytes(const uint8_t* x, int64_t rows, int64_t stride, uint8_t most, int64_t* acc,
                       int64_t width) {
  const bool narrow = width < kLeastByteRow, truths = most == kTruth;
  const int level = level_for(width);
  const auto add =
      narrow
          ? (truths ? simd_v2::add_narrow_rows<kTruth> : simd_v2::add_narrow_rows<kAnyByte>)
          : (truths ? MX_SIMD_AT(level, add_rows<kTruth>) : MX_SIMD_AT(level, add_rows<kAnyByte>));
  for (int64_t r = 0; r < rows; r += kMostRows)
    add(x + r * stride, std::min(kMostRows, rows - r), stride, acc, width);
}

}  // namespace mxnet
