// SPDX-License-Identifier: Apache-2.0
// Many rows of a few elements copied backwards, as the channels of pictures: as many rows as a
// vector holds at once.
#pragma once
#include <cstdint>

namespace mxnet {

// `rows` rows of `width` bytes, which lie one behind the other in both arrays, each with its
// elements of `element` bytes in reverse order. Nothing need be aligned, nothing may overlap. False
// where nothing has been done: the processor cannot, or a row is no shorter than a vector.
bool reverse_short_rows(const char* in, char* out, int64_t width, int64_t element, int64_t rows);

}  // namespace mxnet
