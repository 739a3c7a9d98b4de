// SPDX-License-Identifier: Apache-2.0
// Rows of a few bytes, as the channels of pictures, of which each is copied backwards, or which
// come in reverse order: as many at once as a vector holds.
#pragma once
#include <cstdint>

namespace mxnet {

// `rows` rows of `width` bytes, which lie one behind the other in both arrays, each with its
// elements of `element` bytes in reverse order. Nothing need be aligned, nothing may overlap. False
// where nothing has been done: the processor cannot, or a row is no shorter than a vector.
bool reverse_short_rows(const char* in, char* out, int64_t width, int64_t element, int64_t rows);
// The same with the last row first, each as it is.
bool reverse_order_of_short_rows(const char* in, char* out, int64_t width, int64_t rows);

}  // namespace mxnet
