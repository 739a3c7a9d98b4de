// SPDX-License-Identifier: Apache-2.0
// Products of a large matrix of floats with a vector, on processors where that gains beside
// OpenBLAS.
#pragma once
#include <cstdint>

namespace mxnet {

// Whether it does here: on those of Intel and AMD with AVX-512, where four rows at once come as
// fast as the third-level cache gives them.
bool gains_by_vector();

// y = a x, of m rows of k numbers each, `row` apart. REQUIRES: gains_by_vector(), and k a multiple
// of 32. The sum of a row is the same beside any others. A thread meets the rows from the last one
// on every other time: a matrix that is read again is found in the second-level cache where it was
// read last.
void multiply_by_vector(int64_t m, int64_t k, const float* a, int64_t row, const float* x,
                        float* y);

}  // namespace mxnet
