// SPDX-License-Identifier: Apache-2.0
// Images in another size: along each axis a new pixel is a weighted sum of a few old ones.
#pragma once
#include <cstdint>
#include <vector>

#include "op/kernel.h"

namespace mxnet::image {

// The numbers are those of the parameter `interp`.
enum class Interpolation : int32_t { kNearest, kLinear, kCubic, kArea, kLanczos };

// Of each new pixel along one axis: old[i * width + k] weighs weight[i * width + k].
struct Taps {
  int64_t width = 1;
  std::vector<int64_t> old;
  std::vector<float> weight;
  bool interpolates = false;  // mixes the same number of neighbours everywhere
};

// `shrinks`: whether the image becomes smaller, or stays, along both axes; areas are averaged only
// then, and interpolated otherwise.
Taps make_taps(Interpolation how, int64_t from, int64_t to, bool shrinks);

// One image, rows of pixels of `channels` numbers.
template <class T>
void resample(const T* in, int64_t channels, const Taps& rows, const Taps& columns, int64_t width,
              T* out);

// Weights of bytes are whole numbers of 2^-11, as image libraries have them: networks see the
// pixels that they were trained with.
inline constexpr int kWeightBits = 11;
struct WholeTaps {
  std::vector<int64_t> old;
  std::vector<int32_t> weight;
};
std::vector<int32_t> whole_weights(const Taps& taps);
// Of linear interpolation: two a pixel. `whole_at_edges`: what would lie half outside is the pixel
// at the edge alone, not twice with the weights it would have had; only the rounding differs.
WholeTaps linear_taps(int64_t from, int64_t to, bool whole_at_edges);
// Of averages of down x across bytes with so many channels: whether what lies half-way goes up, or
// to the even number.
inline bool halves_go_up(int64_t down, int64_t across, int64_t channels) {
  return down == 2 && across == 2 && channels != 2 && channels <= 4;
}

// Bytes, as image libraries compute them in whole numbers: linear, and areas of a whole number of
// pixels. False for all else: nothing is done.
bool resample_bytes(Interpolation how, const uint8_t* in, int64_t channels, int64_t height,
                    int64_t width, int64_t new_height, int64_t new_width, uint8_t* out);

// All images of the call on its GPU.
void resample_on_gpu(Interpolation how, KernelContext& context);

}  // namespace mxnet::image
