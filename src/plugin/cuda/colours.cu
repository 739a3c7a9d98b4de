// SPDX-License-Identifier: Apache-2.0
// Colours of images (op/image/colours.h). Random operators draw for the whole array: on the host,
// from a key of the device's.
#include "op/image/colours.h"

#include "op/image/pixel.h"
#include "op/run/plugin_random.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/philox_draws.h"

namespace mxnet {
namespace cuda {
namespace {

using namespace image;  // NOLINT(google-build-using-namespace): whose kernels these are

// Towards zero where pixels are integers.
struct Truncated {
  template <class T, class C>
  static MX_DEVICE T to(C value) {
    return to_pixel<T>(value, true);
  }
};
using Pixels = StoredAs<Truncated>;

template <class C, class Change>
struct ChangePixels {
  Change change;
  int64_t channels;
  Numbers<C> in;
  Pixels out;
  MX_DEVICE void operator()(int64_t i) const {
    C from[3] = {}, to[3] = {};
    for (int64_t c = 0; c < channels; ++c) from[c] = in(i * channels + c);
    change(from, to);
    for (int64_t c = 0; c < channels; ++c) out(i * channels + c, to[c]);
  }
};

int64_t channels_of(const Tensor& image) { return image.shape().back(); }
// fn(C{}) with the type that colours are computed in.
template <class F>
void with_computed(DType dtype, const F& fn) {
  dtype == DType::kFloat64 ? fn(0.0) : fn(0.0f);
}
template <class Change>
void change_pixels(NativeStream* stream, const Change& change, const Tensor& in,
                   const Tensor& out) {
  const int64_t channels = channels_of(in);
  with_computed(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    for_each(stream, "_image_colours", in.size() / channels,
             ChangePixels<C, Change>{change, channels, {in.data, in.dtype}, {out.data, in.dtype}});
  });
}

// The mean of each image.
template <class C>
struct MeanOfImage {
  Numbers<C> in;
  double* means;
  int64_t size, channels;
  MX_DEVICE double part(int64_t image, int lane, int lanes) const {
    double sum = 0;
    for (int64_t p = lane; p < size; p += lanes)
      sum += Luma::weight(p % channels, channels) * static_cast<double>(in(image * size + p));
    return sum;
  }
  MX_DEVICE double merge(double a, double b) const { return a + b; }
  MX_DEVICE void finish(int64_t image, double sum) const {
    means[image] = sum / static_cast<double>(size / channels);
  }
};
template <class C>
struct ContrastPixels {
  ChangePixels<C, ChangeContrast> pixels;
  const double* means;
  int64_t of_image;
  MX_DEVICE void operator()(int64_t i) const {
    ChangePixels<C, ChangeContrast> mine = pixels;
    mine.change.mean = means[i / of_image];
    mine(i);
  }
};
void change_contrast(NativeStream* stream, float factor, const Tensor& in, const Tensor& out,
                     KernelContext& context) {
  const int n = in.ndim();
  const int64_t channels = channels_of(in), size = in.shape().size(n - 3, n);
  if (in.size() == 0) return;
  auto* const means = context.workspace_of<double>(in.size() / size);
  with_computed(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const Numbers<C> from{in.data, in.dtype};
    for_each_group(stream, "_image_colours", in.size() / size, true,
                   MeanOfImage<C>{from, means, size, channels});
    for_each(
        stream, "_image_colours", in.size() / channels,
        ContrastPixels<C>{
            {{channels, factor, 0}, channels, from, {out.data, in.dtype}}, means, size / channels});
  });
}

void change(Colour colour, float amount, const Tensor& in, KernelContext& context) {
  NativeStream* const stream = context.stream()->native();
  const Tensor& out = context.out(0);
  const int64_t channels = channels_of(in);
  switch (colour) {
    case Colour::kBrightness:
      return change_pixels(stream, ChangeBrightness{channels, amount}, in, out);
    case Colour::kContrast:
      return change_contrast(stream, amount, in, out, context);
    case Colour::kSaturation:
      return change_pixels(stream, ChangeSaturation{channels, amount}, in, out);
    case Colour::kHue:
      return change_pixels(stream, ChangeHue{channels, amount}, in, out);
  }
}
void change_light(const std::array<float, 3>& alpha, KernelContext& context) {
  change_pixels(context.stream()->native(), ChangeLight::along(channels_of(context.in(0)), alpha),
                context.in(0), context.out(0));
}

PhiloxDraws draws_of(const KernelContext& context) {
  return PhiloxDraws(draw_plugin_key(context.device()), 0);
}

template <Colour kColour>
void random_change(const FactorParams& params, KernelContext& context) {
  PhiloxDraws draws = draws_of(context);
  change(kColour, draw_between(draws, params.min_factor, params.max_factor), context.in(0),
         context);
}
void random_jitter(const JitterParams& params, KernelContext& context) {
  PhiloxDraws draws = draws_of(context);
  const Tensor* from = &context.in(0);
  for (const ColourStep& step : draw_jitter(params, draws)) {
    change(step.colour, step.amount, *from, context);
    from = &context.out(0);
  }
  if (from == &context.in(0)) change(Colour::kBrightness, 1, *from, context);
}
void random_lighting(const LightingParams& params, KernelContext& context) {
  PhiloxDraws draws = draws_of(context);
  change_light(draw_light(params, draws), context);
}
void adjust_lighting(const AlphaParams& params, KernelContext& context) {
  change_light({params.alpha[0], params.alpha[1], params.alpha[2]}, context);
}

}  // namespace

void add_colours(std::vector<GpuKernelRow>* rows) {
  using P = FactorParams;
  rows->push_back(kernel_row<P, random_change<Colour::kBrightness>>("_image_random_brightness"));
  rows->push_back(kernel_row<P, random_change<Colour::kContrast>>("_image_random_contrast"));
  rows->push_back(kernel_row<P, random_change<Colour::kSaturation>>("_image_random_saturation"));
  rows->push_back(kernel_row<P, random_change<Colour::kHue>>("_image_random_hue"));
  rows->push_back(kernel_row<JitterParams, random_jitter>("_image_random_color_jitter"));
  rows->push_back(kernel_row<LightingParams, random_lighting>("_image_random_lighting"));
  rows->push_back(kernel_row<AlphaParams, adjust_lighting>("_image_adjust_lighting"));
}

}  // namespace cuda
}  // namespace mxnet
