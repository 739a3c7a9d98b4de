// SPDX-License-Identifier: Apache-2.0
// Operators that change colours: brightness, contrast, saturation, hue and light. The random ones
// draw a factor for the whole array. Channels come last: red, green, blue, or grey alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/simd.h"
#include "op/generators/random_draws.h"
#include "op/generators/random_streams.h"
#include "op/image/colours.h"
#include "op/image/hue_loops.h"
#include "op/image/pixel.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet::image {
namespace {

template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;

// What a thread has in its cache at once, a whole number of pixels of one or of three numbers.
constexpr int64_t kBlock = 3 * 256;

// Makes y of x, which may be the same: pixels of `kChannels` numbers. The compiler knows how many
// there are.
template <int64_t kChannels, class C, class F>
void change_each(F change, const C* x, C* y, int64_t count) {
  change.channels = kChannels;
  MX_INDEPENDENT_STEPS
  for (int64_t i = 0; i < count; i += kChannels) change(x + i, y + i);
}
template <class C, class F>
void change_pixels(const F& change, const C* x, C* y, int64_t count) {
  if (change.channels == 3) {
    change_each<3>(change, x, y, count);
  } else {
    change_each<1>(change, x, y, count);
  }
}
// Alike for all numbers.
template <class C>
void change_pixels(const ChangeBrightness& change, const C* x, C* y, int64_t count) {
  change_each<1>(change, x, y, count);
}
template <class C>
void change_pixels(const ChangeContrast& change, const C* x, C* y, int64_t count) {
  change_each<1>(change, x, y, count);
}
template <class C>
void change_pixels(const ChangeHue& change, const C* x, C* y, int64_t count) {
  if (change.channels == 3) {
    turn_hues(change, x, y, count / 3);
  } else if (x != y) {
    std::copy_n(x, count, y);
  }
}
// Whole vectors of what is added, of one channel or of three.
template <class C>
void change_pixels(const ChangeLight& change, const C* x, C* y, int64_t count) {
  constexpr int64_t kPeriod = 48;
  std::array<C, kPeriod> add;
  for (std::size_t k = 0; k < kPeriod; ++k)
    add[k] = static_cast<C>(change.add[change.channels == 3 ? k % 3 : 0]);
  for (int64_t start = 0; start < count; start += kPeriod) {
    const int64_t some = std::min(kPeriod, count - start);
    MX_INDEPENDENT_STEPS
    for (int64_t k = 0; k < some; ++k)
      y[start + k] = x[start + k] + add[static_cast<std::size_t>(k)];
  }
}

// How pixels of a type become floats and floats pixels: the same for all changes.
struct PixelType {
  int64_t bytes;
  void (*load)(const void* in, float* block, int64_t count);
  void (*store)(const float* block, void* out, int64_t count);
};

PixelType pixel_type(DType dtype) {
  return dispatch_dtype<kNumeric>(dtype, "_image_random", []<class T>(TypeTag<T>) {
    return PixelType{sizeof(T),
                     [](const void* in, float* block, int64_t count) {
                       convert_array(static_cast<const T*>(in), block, count);
                     },
                     [](const float* block, void* out, int64_t count) {
                       for (int64_t k = 0; k < count; ++k)
                         static_cast<T*>(out)[k] = to_pixel<T>(block[k], true);
                     }};
  });
}

// change(pixel in, pixel out) in computing numbers, over all pixels; out may be in.
template <class F>
void each_pixel(const Tensor& in, const Tensor& out, double cost, const F& change) {
  const int64_t size = in.size(), blocks = (size + kBlock - 1) / kBlock;
  if (size == 0) return;
  const PixelType type = pixel_type(in.dtype);
  const auto in_place = [&]<class C>(TypeTag<C>, int64_t first, int64_t last) {
    const int64_t start = first * kBlock, count = std::min(last * kBlock, size) - start;
    change_pixels(change, in.as<C>() + start, out.as<C>() + start, count);
  };
  parallel_for(
      blocks, cost * kBlock,
      [&](int64_t first, int64_t last) {
        if (in.dtype == DType::kFloat32) return in_place(TypeTag<float>{}, first, last);
        if (in.dtype == DType::kFloat64) return in_place(TypeTag<double>{}, first, last);
        std::array<float, kBlock> block;
        for (int64_t i = first; i < last; ++i) {
          const int64_t start = i * kBlock, count = std::min(kBlock, size - start);
          type.load(in.as<char>() + start * type.bytes, block.data(), count);
          change_pixels(change, block.data(), block.data(), count);
          type.store(block.data(), out.as<char>() + start * type.bytes, count);
        }
      },
      1);
}

// The mean brightness of an image.
template <class T>
double mean_luma(const T* image, int64_t pixels, int64_t channels) {
  // Sums of every twelfth number: of one channel each, whether there are one or three.
  constexpr int64_t kLanes = 12;
  const int64_t size = pixels * channels;
  std::array<double, kLanes> lanes{};
  std::array<Compute<T>, kBlock> block;
  for (int64_t start = 0; start < size; start += kBlock) {
    const int64_t count = std::min(kBlock, size - start), whole = count / kLanes * kLanes;
    convert_array(image + start, block.data(), count);
    const Compute<T>* const x = block.data();
    for (int64_t i = 0; i < whole; i += kLanes)
      for (int64_t k = 0; k < kLanes; ++k) lanes[static_cast<std::size_t>(k)] += x[i + k];
    for (int64_t i = whole; i < count; ++i) lanes[static_cast<std::size_t>(i - whole)] += x[i];
  }
  double sum = 0;
  for (std::size_t k = 0; k < kLanes; ++k)
    sum += Luma::weight(static_cast<int64_t>(k) % channels, channels) * lanes[k];
  return sum / static_cast<double>(pixels);
}

int64_t channels_of(const Tensor& image) { return image.dim(image.ndim() - 1); }

// ---- the changes -------------------------------------------------------------------------------

void change_brightness(const Tensor& in, const Tensor& out, float factor) {
  each_pixel(in, out, 1, ChangeBrightness{channels_of(in), factor});
}

void change_contrast(const Tensor& in, const Tensor& out, float factor) {
  const int n = in.ndim();
  const int64_t channels = channels_of(in), size = in.shape().size(n - 3, n);
  const int64_t images = size > 0 ? in.size() / size : 0, pixels = size / channels;
  Shape shape{in.dim(n - 3), in.dim(n - 2), channels};
  for (int64_t i = 0; i < images; ++i) {
    double mean = 0;
    dispatch_dtype<kNumeric>(in.dtype, "_image_random_contrast", [&]<class T>(TypeTag<T>) {
      mean = mean_luma(in.as<T>() + i * size, pixels, channels);
    });
    const auto offset =
        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i * size) * dtype_size(in.dtype));
    const Tensor from{in.as<char>() + offset, &shape, in.dtype};
    const Tensor to{out.as<char>() + offset, &shape, in.dtype};
    each_pixel(from, to, 1, ChangeContrast{channels, factor, mean});
  }
}

void change_saturation(const Tensor& in, const Tensor& out, float factor) {
  each_pixel(in, out, 2, ChangeSaturation{channels_of(in), factor});
}

void change_hue(const Tensor& in, const Tensor& out, float turns) {
  each_pixel(in, out, 8, ChangeHue{channels_of(in), turns});
}

void change_light(const Tensor& in, const Tensor& out, const std::array<float, 3>& alpha) {
  each_pixel(in, out, 1, ChangeLight::along(channels_of(in), alpha));
}

// ---- operators ---------------------------------------------------------------------------------

using Change = void (*)(const Tensor&, const Tensor&, float);

void infer_color(Infer& infer) {
  InferArg data = infer.in(0);
  data.same_as(infer.out(0));
  if (!data.rank_known()) return;
  const int n = data.ndim();
  if (n != 3 && n != 4) data.fail("(height, width, channels) or (batch, height, width, channels)");
  if (data.dim(n - 1) >= 0 && data.dim(n - 1) != 1 && data.dim(n - 1) != 3)
    data.fail("one or three channels, the last dimension");
}

// Of what is random nothing is kept: gradients pass as they are, as existing programs have it.
template <class P>
Gradients pass(const P&, Grad& grad) {
  return {grad.dout(0)};
}

template <Change change>
void define_random(const char* name, const char* doc, float least) {
  static float lowest;
  lowest = least;
  OpBuilder<FactorParams>(name)
      .doc(doc)
      .alias((std::string("_npx_") + name).c_str())
      .input("data", "(height, width, channels), or a batch of such.")
      .param("min_factor", &FactorParams::min_factor, "Smallest factor; 1 changes nothing.")
      .param("max_factor", &FactorParams::max_factor, "Largest factor.")
      .inplace(0, 0)
      .uses_random()
      .dtypes(kNumeric)
      .infer([](const FactorParams& params, Infer& infer) {
        infer_color(infer);
        if (!(params.min_factor >= lowest) || !(params.max_factor >= params.min_factor))
          infer.fail(
              fmt::format("given min_factor {} and max_factor {}, expected them in order, not "
                          "below {}",
                          params.min_factor, params.max_factor, lowest));
      })
      .cpu([](const FactorParams& params, KernelContext& context) {
        Draws draws(RandomStreams::of(context.device()).sequential());
        change(context.in(0), context.out(0),
               draw_between(draws, params.min_factor, params.max_factor));
      })
      .grad(pass<FactorParams>);
}

[[maybe_unused]] const bool defined = [] {
  // Hues turn either way.
  constexpr float kAny = -std::numeric_limits<float>::infinity();
  define_random<change_brightness>("_image_random_brightness", "Images times a random factor.", 0);
  define_random<change_contrast>("_image_random_contrast",
                                 "Images further from their mean by a random factor.", 0);
  define_random<change_saturation>("_image_random_saturation",
                                   "Images further from grey by a random factor.", 0);
  define_random<change_hue>("_image_random_hue",
                            "Images with their hues turned by a random part of the wheel.", kAny);
  return true;
}();

void jitter_cpu(const JitterParams& params, KernelContext& context) {
  constexpr Change kChanges[] = {change_brightness, change_contrast, change_saturation, change_hue};
  Draws draws(RandomStreams::of(context.device()).sequential());
  const Tensor* from = &context.in(0);
  const Tensor& out = context.out(0);
  for (const ColourStep& step : draw_jitter(params, draws)) {
    kChanges[static_cast<int>(step.colour)](*from, out, step.amount);
    from = &out;
  }
  if (from != &out) change_brightness(*from, out, 1);
}

MX_OP(_image_random_color_jitter, JitterParams)
.doc("Images with brightness, contrast, saturation and hue changed at random, in random order.")
    .alias("_npx__image_random_color_jitter")
    .input("data", "(height, width, channels), or a batch of such.")
    .param("brightness", &JitterParams::brightness, "Largest change of brightness; 0 is none.")
    .param("contrast", &JitterParams::contrast, "Largest change of contrast.")
    .param("saturation", &JitterParams::saturation, "Largest change of saturation.")
    .param("hue", &JitterParams::hue, "Largest turn of hues, in turns of the colour wheel.")
    .inplace(0, 0)
    .uses_random()
    .dtypes(kNumeric)
    .infer([](const JitterParams& params, Infer& infer) {
      infer_color(infer);
      if (!(std::min({params.brightness, params.contrast, params.saturation, params.hue}) >= 0))
        infer.fail("given an amount below 0, expected 0 or more");
    })
    .cpu(jitter_cpu)
    .grad(pass<JitterParams>);

MX_OP(_image_adjust_lighting, AlphaParams)
.doc("Images in another light, along the principal directions of colours in photographs.")
    .alias("_npx__image_adjust_lighting")
    .input("data", "(height, width, channels), or a batch of such.")
    .param("alpha", &AlphaParams::alpha, "How far along each of the three directions.")
    .inplace(0, 0)
    .dtypes(kNumeric)
    .infer([](const AlphaParams& params, Infer& infer) {
      infer_color(infer);
      if (params.alpha.size() != 3)
        infer.fail(fmt::format("given alpha of {} numbers, expected three", params.alpha.size()));
    })
    .cpu([](const AlphaParams& params, KernelContext& context) {
      change_light(context.in(0), context.out(0),
                   {params.alpha[0], params.alpha[1], params.alpha[2]});
    })
    .grad(pass<AlphaParams>);

MX_OP(_image_random_lighting, LightingParams)
.doc("Images in a random light.")
    .alias("_npx__image_random_lighting")
    .input("data", "(height, width, channels), or a batch of such.")
    .param("alpha_std", &LightingParams::alpha_std, 0.05f,
           "Standard deviation of the way along each direction.")
    .inplace(0, 0)
    .uses_random()
    .dtypes(kNumeric)
    .infer([](const LightingParams& params, Infer& infer) {
      infer_color(infer);
      if (!(params.alpha_std >= 0)) infer.fail("given alpha_std below 0, expected 0 or more");
    })
    .cpu([](const LightingParams& params, KernelContext& context) {
      Draws draws(RandomStreams::of(context.device()).sequential());
      change_light(context.in(0), context.out(0), draw_light(params, draws));
    })
    .grad(pass<LightingParams>);

}  // namespace
}  // namespace mxnet::image
