// SPDX-License-Identifier: Apache-2.0
// Sums of Hopcroft and Kerr's method for products of few rows: two rows of four blocks meet four by
// four blocks in 26 products instead of 32. Rows are halved only once, as by Strassen's method,
// which takes 28, and the right factors are 26 sixteenths of the matrix instead of 28. All run on
// the calling thread, with AVX-512 only.
#pragma once
#include <cstdint>

namespace mxnet::rnn::pair_sums {

inline constexpr int kProducts = 26, kBlocks = 4;
// Columns of a block of the right factors: those of a panel of AVX-512.
inline constexpr int64_t kWidth = 32;

// The left factors, `apart` numbers from each other, of two rows of kBlocks * count numbers.
void sum_left(const float* first, const float* second, int64_t count, float* to, int64_t apart);

// The right factors, one after the other, of kBlocks packed panels of k rows of kWidth columns.
// Other threads see them after finish_stream_copies() (base/stream_copy.h).
void sum_right(const float* panels, int64_t k, float* to);

// The products of `rows` rows, kProducts * kWidth numbers each, product after product, are added to
// the results: of the first and the second of two rows, kBlocks * kWidth numbers each; `stride`
// numbers further are the next two.
void add_products(const float* products, int64_t rows, float* first, float* second, int64_t stride);

}  // namespace mxnet::rnn::pair_sums
