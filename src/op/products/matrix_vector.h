// SPDX-License-Identifier: Apache-2.0
// Products of a large matrix of floats with a vector, on processors where that gains beside
// OpenBLAS: those that have tall tiles (op/products/packed_gemm.h).
#pragma once
#include <cstdint>

namespace mxnet {

// y = a x, of m rows of k numbers each, `row` apart. REQUIRES: packed_gemm::has_tall_tiles(), m >=
// 4 and k a multiple of 32. A thread meets the rows from the last one on every other time: a matrix
// that is read again is found in the second-level cache where it was read last.
void multiply_by_vector(int64_t m, int64_t k, const float* a, int64_t row, const float* x,
                        float* y);

}  // namespace mxnet
