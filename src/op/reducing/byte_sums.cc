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

// What a byte counts. (Columns as they are take the loop for kFlipped, too: the library's size.
// Rows do not: what turns no bit over took a tenth of short ones.)
enum class Counts : uint8_t { kAsItIs, kFlipped, kTruth };

#define MX_SIMD_FILE "op/reducing/byte_sums.inc"
#include "base/simd_targets.h"

// Rows that the widest vectors are too long for are left to the baseline's.
int level_for(int64_t n) { return n < kMostSimdBytes ? 0 : simd_level_for_traffic(); }

// Bytes with a sign are added with their first bit turned over, which is 128 more of each.
constexpr int64_t kMoreThanSigned = 128;
uint8_t flipped_of(ByteKind kind) { return kind == ByteKind::kSigned ? kMoreThanSigned : 0; }
int64_t more_than_signed(ByteKind kind, int64_t n) { return flipped_of(kind) * n; }

// Rows of narrow columns are taken as wide ones: of so many bytes at most, so many at least.
constexpr int64_t kWideRow = 256, kFewestWideRows = 8;

void add_as_they_are(const uint8_t* x, int64_t rows, int64_t stride, ByteKind kind, int64_t* acc,
                     int64_t width) {
  const bool narrow = width < kLeastByteRow, truths = kind == ByteKind::kTruth;
  const int level = level_for(width);
  const auto add = narrow ? (truths ? simd_v2::add_narrow_rows<Counts::kTruth>
                                    : simd_v2::add_narrow_rows<Counts::kFlipped>)
                          : (truths ? MX_SIMD_AT(level, add_rows<Counts::kTruth>)
                                    : MX_SIMD_AT(level, add_rows<Counts::kFlipped>));
  for (int64_t r = 0; r < rows; r += kMostRows)
    add(x + r * stride, std::min(kMostRows, rows - r), stride, flipped_of(kind), acc, width);
}

}  // namespace

int64_t sum_of_bytes(const uint8_t* x, int64_t n, ByteKind kind) {
  int64_t sum = 0;
  sums_of_rows_of_bytes(x, 1, n, kind, &sum);
  return sum;
}

void sums_of_rows_of_bytes(const uint8_t* x, int64_t rows, int64_t n, ByteKind kind,
                           int64_t* values) {
  const bool truths = kind == ByteKind::kTruth;
  const uint8_t flipped = flipped_of(kind);
  if (n >= kLeastByteRow) {
    const int level = level_for(n);
    const auto sum = truths         ? MX_SIMD_AT(level, sum_rows<Counts::kTruth>)
                     : flipped != 0 ? MX_SIMD_AT(level, sum_rows<Counts::kFlipped>)
                                    : MX_SIMD_AT(level, sum_rows<Counts::kAsItIs>);
    sum(x, rows, n, flipped, values);
  } else {
    const uint8_t most = truths ? 1 : 255;
    for (int64_t r = 0; r < rows; ++r, x += n) {
      values[r] = 0;
      for (int64_t i = 0; i < n; ++i) values[r] += std::min<uint8_t>(x[i] ^ flipped, most);
    }
  }
  if (const int64_t more = more_than_signed(kind, n); more != 0)
    for (int64_t r = 0; r < rows; ++r) values[r] -= more;
}

void add_rows_of_bytes(const uint8_t* x, int64_t rows, int64_t stride, ByteKind kind, int64_t* acc,
                       int64_t width) {
  if (const int64_t more = more_than_signed(kind, rows); more != 0)
    for (int64_t j = 0; j < width; ++j) acc[j] -= more;
  const int64_t side = std::min(kWideRow / width, rows / kFewestWideRows);
  if (stride == width && width < kMostSimdBytes && rows * width >= kFewBytes && side > 1) {
    std::array<int64_t, kWideRow> wide{};
    const int64_t wide_rows = rows / side;
    add_as_they_are(x, wide_rows, side * width, kind, wide.data(), side * width);
    for (int64_t i = 0; i < side; ++i)
      for (int64_t j = 0; j < width; ++j) acc[j] += wide[i * width + j];
    x += wide_rows * side * width;
    rows -= wide_rows * side;
  }
  add_as_they_are(x, rows, stride, kind, acc, width);
}

}  // namespace mxnet
