// SPDX-License-Identifier: Apache-2.0
// An image with a border around it (op/image/geometry.cc).
#include "op/image/border.h"

#include "op/image/pixel.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"

namespace mxnet {
namespace cuda {
namespace {

using image::BorderParams;

// Constants that a kernel is handed by value; images with more channels, each with a constant of
// its own, run on the host.
constexpr int64_t kMostConstants = 8;

template <class T>
struct MakeBorder {
  const T* in;
  T* out;
  int64_t height, width, channels, new_width;
  int32_t top, left, type;
  T constants[kMostConstants];
  bool of_channels;  // else the first is that of all

  MX_DEVICE void operator()(int64_t i) const {
    const int64_t pixel = i / channels, channel = i - pixel * channels;
    const int64_t y = pixel / new_width - top, x = pixel % new_width - left;
    const int64_t row = height == 0 ? -1 : image::pixel_at(y, height, type);
    const int64_t column = width == 0 ? -1 : image::pixel_at(x, width, type);
    out[i] = row < 0 || column < 0 ? constants[of_channels ? channel : 0]
                                   : in[(row * width + column) * channels + channel];
  }
};

void make_border(const BorderParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  for_dtype<kNumeric.bits_>(in.dtype, "_cvcopyMakeBorder", [&](auto type) {
    using T = decltype(type);
    MakeBorder<T> work{in.as<T>(),
                       out.as<T>(),
                       in.dim(0),
                       in.dim(1),
                       in.dim(2),
                       out.dim(1),
                       params.top,
                       params.left,
                       params.type,
                       {},
                       !params.values.empty()};
    if (!work.of_channels) work.constants[0] = image::to_pixel<T>(params.value);
    for (int64_t c = 0; work.of_channels && c < in.dim(2); ++c)
      work.constants[c] = image::to_pixel<T>(params.values[static_cast<std::size_t>(c)]);
    for_each(context.stream()->native(), "_cvcopyMakeBorder", out.size(), work);
  });
}

bool has_room(const void* params, const Signature& signature) {
  return static_cast<const BorderParams*>(params)->values.empty() ||
         (*signature.in[0].shape_ptr)[2] <= kMostConstants;
}

}  // namespace

void add_borders(std::vector<GpuKernelRow>* rows) {
  GpuKernelRow row = kernel_row<BorderParams, make_border>("_cvcopyMakeBorder");
  row.accepts = has_room;
  rows->push_back(row);
}

}  // namespace cuda
}  // namespace mxnet
