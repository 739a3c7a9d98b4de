// SPDX-License-Identifier: Apache-2.0
// Matrix products of float by the processor's unit for bytes. A line (a row of the left factor, a
// column of the right one) becomes integers of three digits to the base 256 and one scale, so that
// its largest number has 23 bits: products of digits are summed exactly, and those of a digit with
// digits that both have little weight are left out, six of nine being made. Their error is one of
// the largest numbers of two lines, about that of a chain of as many additions in float where
// numbers of a line are of about one size. The numbers are the same whatever the number of threads
// and wherever they are computed.
#pragma once
#include <cstdint>

#include "base/matrix_unit.h"

namespace mxnet::digit_products {

// Who multiplies: the unit, where it is available, or plain loops, which are there for tests.
enum class By : uint8_t { kUnit, kLoops };

// Lines that are packed together, kTile of them: sixteen.
inline constexpr int64_t kTile = matrix_unit::kRows;
// The bytes of a packed tile of lines of k numbers: their digits, and their scales.
int64_t tile_bytes(int64_t k);
int64_t packed_bytes(int64_t lines, int64_t k);

// Lines in place: number i of line l is data[l * line + i * step]. Lines or steps are contiguous.
struct Lines {
  const float* data;
  int64_t line, step;
};
// Lines [first, last) of `count`, which are finite; `first` is a multiple of kTile, `last` too or
// `count`. The memory of `packed` is aligned to 64 bytes.
void pack_left(const Lines& lines, int64_t count, int64_t k, int64_t first, int64_t last,
               int8_t* packed);
void pack_right(const Lines& lines, int64_t count, int64_t k, int64_t first, int64_t last,
                int8_t* packed);

// Left lines whose numbers come one part after the other, all with one scale: none is larger than
// `largest`. First the scales and zeros for what is beyond k, then numbers [first, last) of a line.
void start_left(int64_t count, int64_t k, float largest, int8_t* packed);
void pack_part(const float* numbers, int64_t line, int64_t k, int64_t first, int64_t last,
               float largest, int8_t* packed);

// Columns [first, last) of c (m rows, `ldc` apart, n columns) become left times right, or have it
// added. `left` begins at a tile; bounds as above.
void multiply(By by, int64_t m, int64_t n, int64_t k, const int8_t* left, const int8_t* right,
              float* c, int64_t ldc, bool add, int64_t first, int64_t last);

}  // namespace mxnet::digit_products
