// SPDX-License-Identifier: Apache-2.0
// How large numbers are that are multiplied: what decides whether products may be made in ways
// whose error is one of the largest numbers.
#pragma once
#include <cstdint>

namespace mxnet {

// The largest magnitude, found in all threads; NaN or infinite if one of the numbers is not finite.
float largest_of(const float* numbers, int64_t count);

// Of the largest magnitudes of rows, the largest (as largest_of()) and the smallest.
struct RowMagnitudes {
  float largest, least;
};
RowMagnitudes magnitudes_of_rows(const float* numbers, int64_t rows, int64_t length);

// Of the magnitudes of some numbers of a product of rows, a (m x k) with w (n x k), the lower
// quartile. They lie all over it, and are found by the calling thread.
float quartile_of_some_products(int64_t m, int64_t n, int64_t k, const float* a, const float* w);

}  // namespace mxnet
