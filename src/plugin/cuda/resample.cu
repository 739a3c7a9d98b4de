// SPDX-License-Identifier: Apache-2.0
// Images in another size (op/image/resample.h): a thread a number of the result, which sums in the
// CPU's order, so that pixels are the CPU's.
#include <cstring>

#include "op/image/pixel.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

using How = GpuResample::How;

// Where an element of the result is.
struct Place {
  int64_t image, y, x, channel;
};

// T: pixels; C: sums.
template <class T, class C>
struct Resample {
  const T* in;
  T* out;
  How how;
  GpuResample::Axis rows, columns;
  int64_t channels;
  float share;

  MX_DEVICE Place place(int64_t i) const {
    const int64_t pixel = i / channels, row = pixel / columns.to;
    return {row / rows.to, row % rows.to, pixel % columns.to, i % channels};
  }
  MX_DEVICE C weight(const int64_t* weights, int64_t at) const {
    if (how == How::kAverage || how == How::kHalvesUp) return C(1);
    if constexpr (std::is_integral_v<C>) {
      return static_cast<C>(weights[at]);
    } else {
      double value;
      memcpy(&value, weights + at, sizeof(value));
      return static_cast<C>(value);
    }
  }
  // What weighs nothing is not read: an infinity beyond the image is none in it.
  MX_DEVICE C line(const T* row, const Place& at) const {
    C sum = 0;
    for (int64_t k = at.x * columns.taps; k < (at.x + 1) * columns.taps; ++k) {
      const C each = weight(columns.weight, k);
      if (each != C(0))
        sum += each * static_cast<C>(widen(row[columns.old[k] * channels + at.channel]));
    }
    return sum;
  }
  // Between two rows four bits of whole numbers go first and sixteen then, as image libraries have
  // it.
  MX_DEVICE C weighed(C each, C value) const {
    if constexpr (std::is_integral_v<C>) {
      if (how == How::kWhole && rows.taps == 2) return (each * (value >> 4)) >> 16;
    }
    return each * value;
  }
  MX_DEVICE T pixel_of(C sum) const {
    if constexpr (std::is_integral_v<C>) {
      if (how == How::kAverage)
        return static_cast<T>(static_cast<int32_t>(nearbyintf(static_cast<float>(sum) * share)));
      const int bits = how == How::kHalvesUp || rows.taps == 2 ? 2 : 22;
      const C shifted = (sum + (C(1) << (bits - 1))) >> bits;
      return static_cast<T>(shifted < C(0) ? C(0) : shifted > C(255) ? C(255) : shifted);
    } else {
      return image::to_pixel<T>(sum);
    }
  }
  MX_DEVICE void operator()(int64_t i) const {
    const Place at = place(i);
    const T* const first = in + at.image * rows.from * columns.from * channels;
    if (how == How::kPick) {
      out[i] = first[(rows.old[at.y] * columns.from + columns.old[at.x]) * channels + at.channel];
      return;
    }
    C sum = 0;
    for (int64_t k = at.y * rows.taps; k < (at.y + 1) * rows.taps; ++k) {
      const C each = weight(rows.weight, k);
      if (each == C(0)) continue;
      sum += weighed(each, line(first + rows.old[k] * columns.from * channels, at));
    }
    out[i] = pixel_of(sum);
  }
};

}  // namespace

void resample(NativeStream* stream, const GpuResample& call) {
  for_dtype<kNumeric.bits_>(call.in.dtype, "resize", [&](auto type) {
    using T = decltype(type);
    const auto run = [&](auto zero) {
      for_each(
          stream, "resize", call.out.size(),
          Resample<T, decltype(zero)>{call.in.template as<T>(), call.out.template as<T>(), call.how,
                                      call.rows, call.columns, call.channels, call.share});
    };
    if constexpr (std::is_same_v<T, uint8_t>) {
      if (call.how != How::kReal) return run(int32_t{0});
    }
    run(std::conditional_t<std::is_same_v<T, double>, double, float>(0));
  });
}

}  // namespace cuda
}  // namespace mxnet
