// SPDX-License-Identifier: Apache-2.0
// Products of rows with a constant matrix in 49 of 64 multiplications: by Strassen's method, twice.
// The sums of the matrix are made before and kept (49 numbers for 16); those of a block of rows are
// made for each product. Rows and columns are mixed in the sums, so that an error is one of the
// largest numbers (may_multiply()), and what is not finite would reach others.
#pragma once
#include <cstdint>

#include "op/products/magnitudes.h"
#include "op/run/parallel.h"

namespace mxnet::strassen_product {

// Whether a matrix of n rows of k can be multiplied so, and is large enough for it to pay. With
// AVX-512 only: of 16 registers sums take more than is saved.
bool divides(int64_t n, int64_t k);
// Rows of a block; a multiple of kRowsTogether up to kMostRows.
inline constexpr int64_t kRowsTogether = 32, kMostRows = 256;

// Whether an error of the largest numbers is a small part of what the product a w^T (m x n) is
// made of: some of its numbers are looked at, and of each row, of a and of w, the largest number.
// False for NaN and infinities, and for numbers whose sums might become infinite.
bool may_multiply(int64_t m, int64_t n, int64_t k, const float* a, const float* w,
                  RowMagnitudes of_w);

// Numbers that the sums take, at 64 bytes.
int64_t sums_size(int64_t n, int64_t k);
// Makes them in all threads, of n rows of k.
void sum_matrix(const float* w, int64_t n, int64_t k, float* to);

// Numbers that a block needs meanwhile, at 64 bytes.
int64_t scratch_size(int64_t k);

// c (rows of n, as many numbers apart) becomes the product of some rows of k, or has it added; on
// the calling thread. `finished`: its columns [first, last) are there.
void multiply(int64_t rows, int64_t n, int64_t k, const float* a, const float* sums, float* c,
              bool add, float* scratch, RangeBody finished);

}  // namespace mxnet::strassen_product
