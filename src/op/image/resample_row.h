// SPDX-License-Identifier: Apache-2.0
// One row of an image in another width.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mxnet::image {

// New pixel x is the sum over k < taps of weight[x * taps + k] times old pixel
// old[x * taps + k]; the places never fall with x. What weighs nothing is not read: an infinity
// beyond the image is none in it.
template <class C, int64_t kChannels>
void stretch_pixels(const C* row, int64_t any, const int64_t* old, const C* weight, int64_t taps,
                    int64_t first, int64_t last, C* out) {
  const int64_t channels = kChannels == 0 ? any : kChannels;
  for (int64_t x = first; x < last; ++x) {
    for (int64_t c = 0; c < channels; ++c) {
      C sum = 0;
      for (int64_t k = x * taps; k < (x + 1) * taps; ++k)
        if (weight[k] != 0) sum += weight[k] * row[old[k] * channels + c];
      out[x * channels + c] = sum;
    }
  }
}

// The same of pixels of three numbers, four lanes at a time: the fourth is the next pixel's, which
// comes later. Reads and writes one number beyond the pixels.
template <class C, int64_t kTaps>
void stretch_lanes(const C* row, const int64_t* old, const C* weight, int64_t any, int64_t pixels,
                   C* out) {
  typedef C Lanes __attribute__((vector_size(4 * sizeof(C))));
  const int64_t taps = kTaps == 0 ? any : kTaps;
  for (int64_t x = 0; x < pixels; ++x) {
    Lanes sum{};
    for (int64_t k = x * taps; k < (x + 1) * taps; ++k) {
      if (!std::is_integral_v<C> && weight[k] == 0) continue;
      Lanes old_pixel;
      std::memcpy(&old_pixel, row + old[k] * 3, sizeof old_pixel);
      sum += weight[k] * old_pixel;
    }
    std::memcpy(out + x * 3, &sum, sizeof sum);
  }
}

// `old_width`, `width`: pixels before and after.
template <class C>
void stretch_row(const C* row, int64_t channels, int64_t old_width, const int64_t* old,
                 const C* weight, int64_t taps, int64_t width, C* out) {
  if (channels == 1) return stretch_pixels<C, 1>(row, 1, old, weight, taps, 0, width, out);
  if (channels != 3) return stretch_pixels<C, 0>(row, channels, old, weight, taps, 0, width, out);
  int64_t lanes = width - 1;  // pixels behind which there is another, old and new
  while (lanes > 0 &&
         *std::max_element(old + (lanes - 1) * taps, old + lanes * taps) >= old_width - 1)
    --lanes;
  if (taps == 2) {
    stretch_lanes<C, 2>(row, old, weight, taps, lanes, out);
  } else {
    stretch_lanes<C, 0>(row, old, weight, taps, lanes, out);
  }
  stretch_pixels<C, 3>(row, 3, old, weight, taps, lanes, width, out);
}

}  // namespace mxnet::image
