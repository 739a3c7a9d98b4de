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

#include "op/products/packed_lines.h"

namespace mxnet {

struct DigitProducts {
  static bool available() { return matrix_unit::available(); }

  // The bytes of so many packed lines of k numbers: their digits, and their scales.
  static int64_t packed_bytes(int64_t lines, int64_t k);
  // Lines [first, last) of `count`, which are finite; `first` is a multiple of kLinesOfTile, `last`
  // too or `count`. The memory of `packed` is aligned to 64 bytes.
  static void pack_left(const Lines& lines, int64_t count, int64_t k, int64_t first, int64_t last,
                        int8_t* packed);
  static void pack_right(const Lines& lines, int64_t count, int64_t k, int64_t first, int64_t last,
                         int8_t* packed);

  // A whole factor, packed in all threads into memory of `context`. Null where a line has a number
  // much larger than most of its numbers are, or one that is not finite: else the error of sums of
  // products is a small part of what sums usually are.
  static const int8_t* pack_suitable(const Lines& lines, int64_t count, int64_t k, bool right,
                                     const KernelContext& context);

  // Left lines whose numbers come one part after the other, all with one scale: none is larger than
  // `largest`. First the scales and zeros for what is beyond k, then numbers [first, last) of a
  // line.
  static void start_left(int64_t count, int64_t k, float largest, int8_t* packed);
  static void pack_part(const float* numbers, int64_t line, int64_t k, int64_t first, int64_t last,
                        float largest, int8_t* packed);

  // Columns [first, last) of c (m rows, `ldc` apart, n columns) become left times right, or have it
  // added. `left` begins at a tile; bounds as above.
  static void multiply(MultipliedBy by, int64_t m, int64_t n, int64_t k, const int8_t* left,
                       const int8_t* right, float* c, int64_t ldc, bool add, int64_t first,
                       int64_t last);
};

}  // namespace mxnet
