// SPDX-License-Identifier: Apache-2.0
// Matrix products of bfloat16 with sums in float by the processor's matrix unit: eight times the
// rate of pairs (op/products/packed_bfloat16.h). Both factors are packed, by lines: rows of the
// left one, columns of the right one.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "op/products/packed_lines.h"

namespace mxnet {

struct Bfloat16Tiles {
  static bool available() { return matrix_unit::multiplies_bfloat16(); }

  static int64_t packed_bytes(int64_t lines, int64_t k);
  // Lines [first, last) of `count`, rounded; `first` is a multiple of kLinesOfTile, `last` too or
  // `count`. The memory of `packed` is aligned to 64 bytes.
  static void pack_left(const Lines& lines, int64_t count, int64_t k, int64_t first, int64_t last,
                        int8_t* packed);
  static void pack_right(const Lines& lines, int64_t count, int64_t k, int64_t first, int64_t last,
                         int8_t* packed);
  // Of lines that are bfloat16 and lie after each other.
  static void pack_right(const bfloat16* lines, int64_t count, int64_t k, int64_t first,
                         int64_t last, int8_t* packed);
  // Numbers [first, last) of a left line; zeros are where none was packed after clear().
  static void clear(int64_t lines, int64_t k, int8_t* packed);
  static void pack_part(const float* numbers, int64_t line, int64_t k, int64_t first, int64_t last,
                        int8_t* packed);

  // Columns [first, last) of c (m rows, `ldc` apart, n columns) become left times right, or have it
  // added. `left` begins at a tile; bounds as above.
  static void multiply(MultipliedBy by, int64_t m, int64_t n, int64_t k, const int8_t* left,
                       const int8_t* right, float* c, int64_t ldc, bool add, int64_t first,
                       int64_t last);
};

}  // namespace mxnet
