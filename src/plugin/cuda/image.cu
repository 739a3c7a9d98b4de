// SPDX-License-Identifier: Apache-2.0
// From pixels to what networks read (op/image/tensor.h), and back.
#include "op/image/pixel.h"
#include "op/image/tensor.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

using image::kWhite;
using image::to_pixel;

// Places in images with channels last, and with channels first.
struct Layouts {
  Divider channels, pixels;
  explicit Layouts(const Tensor& last)
      : channels(last.dim(last.ndim() - 1)),
        pixels(last.dim(last.ndim() - 3) * last.dim(last.ndim() - 2)) {}
  // Of what has channels first: where its element i is with channels last.
  MX_DEVICE int64_t place(int64_t i) const {
    const int64_t plane = pixels.quotient(i), image = channels.quotient(plane);
    return (image * pixels.by() + i - plane * pixels.by()) * channels.by() + plane -
           image * channels.by();
  }
};

template <class T>
struct ToTensor {
  Layouts layouts;
  const T* in;
  float* out;
  MX_DEVICE void operator()(int64_t i) const {
    out[i] = static_cast<float>(widen(in[layouts.place(i)])) / kWhite;
  }
};
void to_tensor(const void*, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  for_dtype<kNumeric.bits_>(in.dtype, "_image_to_tensor", [&](auto type) {
    using T = decltype(type);
    for_each(context.stream()->native(), "_image_to_tensor", in.size(),
             ToTensor<T>{Layouts(in), in.as<T>(), out.as<float>()});
  });
}

template <class T>
struct ToTensorSlope {
  Layouts layouts;
  const float* in;
  T* out;
  MX_DEVICE void operator()(int64_t i) const {
    out[layouts.place(i)] = to_pixel<T>(in[i] / kWhite);
  }
};
void to_tensor_slope(const void*, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  for_dtype<kNumeric.bits_>(out.dtype, "_image_to_tensor", [&](auto type) {
    using T = decltype(type);
    for_each(context.stream()->native(), "_image_to_tensor", out.size(),
             ToTensorSlope<T>{Layouts(out), in.as<float>(), out.as<T>()});
  });
}

// y = (x - mean) / deviation; inference has seen to it that there are one or three channels.
constexpr int kMostChannels = 3;
template <class T>
struct Normalize {
  const T* in;
  T* out;
  float mean[kMostChannels], deviation[kMostChannels];
  Divider channels, pixels;
  MX_DEVICE void operator()(int64_t i) const {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const int64_t plane = pixels.quotient(i),
                  channel = plane - channels.quotient(plane) * channels.by();
    out[i] = to_pixel<T>((static_cast<C>(widen(in[i])) - static_cast<C>(mean[channel])) /
                             static_cast<C>(deviation[channel]),
                         true);
  }
};
template <bool gradient>
void normalize(const image::NormalizeParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const int n = in.ndim();
  if (in.size() == 0) return;
  for_dtype<kNumeric.bits_>(in.dtype, "_image_normalize", [&](auto type) {
    using T = decltype(type);
    Normalize<T> work{in.as<T>(),
                      out.as<T>(),
                      {},
                      {},
                      Divider(in.dim(n - 3)),
                      Divider(in.dim(n - 2) * in.dim(n - 1))};
    for (int64_t c = 0; c < work.channels.by(); ++c) {
      work.mean[c] = gradient ? 0.0f : image::of_channel(params.mean, c);
      work.deviation[c] = image::of_channel(params.std, c);
    }
    for_each(context.stream()->native(), "_image_normalize", in.size(), work);
  });
}

}  // namespace

void add_images(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"_image_to_tensor", to_tensor, nullptr});
  rows->push_back({"_backward_image_to_tensor", to_tensor_slope, nullptr});
  rows->push_back(kernel_row<image::NormalizeParams, normalize<false>>("_image_normalize"));
  rows->push_back(kernel_row<image::NormalizeParams, normalize<true>>("_backward_image_normalize"));
}

}  // namespace cuda
}  // namespace mxnet
