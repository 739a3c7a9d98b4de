// SPDX-License-Identifier: Apache-2.0
// Which loops make a product of floats. The whole product decides, and not how threads share it:
// that is no matter of digits.
#pragma once
#include "op/products/products.h"

namespace mxnet {

enum class Way : uint8_t {
  kRowDots,     // many sums of products of two rows
  kVectorDots,  // many of a vector with a few rows
  kByRows,      // vectors of a row of the result
  kInSlices,    // both factors packed, by all threads together
  // Of these there are blocks:
  kThin,      // a few rows or columns
  kOuter,     // a column and a row
  kOpen,      // factors where they lie
  kOneSlice,  // the right factor packed
  kByVector,  // a large matrix and a vector
  kBlas
};
template <std::floating_point T>
Way way_of(const Products<T>& p);
// The same among those of which there are blocks.
template <std::floating_point T>
Way way_of_blocks(const Products<T>& p);

// Whether such loops are for a product with alpha 1 and beta 0, or for any (open tiles). A few rows
// or columns are kThin.
template <std::floating_point T>
bool suits_rows(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k);
// Whether OpenBLAS multiplies by a right factor that is turned without packing it.
bool is_lean_when_turned(bool transpose_a, int64_t m, int64_t n, int64_t k);
bool suits_outer(int64_t n, int64_t k, bool in_row);
template <std::floating_point T>
bool suits_open_tiles(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                      int64_t lda);
template <std::floating_point T>
bool suits_few(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, int64_t lda);

}  // namespace mxnet
