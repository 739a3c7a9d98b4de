// SPDX-License-Identifier: Apache-2.0
// Operators that change colours: brightness, contrast, saturation, hue and light. The random ones
// draw a factor for the whole array. Channels come last: red, green, blue, or grey alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "op/dispatch.h"
#include "op/image/pixel.h"
#include "op/op_builder.h"
#include "op/parallel.h"
#include "op/random_draws.h"
#include "op/random_streams.h"

namespace mxnet::image {
namespace {

// What the eye makes of red, green and blue.
constexpr std::array<float, 3> kLuma{0.299f, 0.587f, 0.114f};

template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;

// fn(pixel in, pixel out) in computing numbers, over all pixels; out may be in.
template <class F>
void each_pixel(const Tensor& in, const Tensor& out, double cost, const F& fn) {
  const int64_t channels = in.dim(in.ndim() - 1);
  if (in.size() == 0) return;
  dispatch_dtype<kNumeric>(in.dtype, "_image_random", [&]<class T>(TypeTag<T>) {
    using C = Compute<T>;
    parallel_for(in.size() / channels, cost, [&](int64_t first, int64_t last) {
      std::array<C, 3> from{}, to{};
      for (int64_t i = first; i < last; ++i) {
        for (int64_t c = 0; c < channels; ++c)
          from[static_cast<std::size_t>(c)] = static_cast<C>(in.as<T>()[i * channels + c]);
        fn(from.data(), to.data());
        for (int64_t c = 0; c < channels; ++c)
          out.as<T>()[i * channels + c] = to_pixel<T>(to[static_cast<std::size_t>(c)], true);
      }
    });
  });
}

int64_t channels_of(const Tensor& image) { return image.dim(image.ndim() - 1); }

// ---- the changes -------------------------------------------------------------------------------

void change_brightness(const Tensor& in, const Tensor& out, float factor) {
  const int64_t channels = channels_of(in);
  each_pixel(in, out, 4, [=](const auto* x, auto* y) {
    for (int64_t c = 0; c < channels; ++c) y[c] = x[c] * factor;
  });
}

// Away from the mean of each image, or towards it.
void change_contrast(const Tensor& in, const Tensor& out, float factor) {
  const int n = in.ndim();
  const int64_t channels = channels_of(in), size = in.shape().size(n - 3, n);
  const int64_t images = size > 0 ? in.size() / size : 0;
  Shape shape{in.dim(n - 3), in.dim(n - 2), channels};
  for (int64_t i = 0; i < images; ++i) {
    double sum = 0;
    dispatch_dtype<kNumeric>(in.dtype, "_image_random_contrast", [&]<class T>(TypeTag<T>) {
      const T* x = in.as<T>() + i * size;
      for (int64_t p = 0; p < size; ++p) {
        const double weight = channels == 1 ? 1.0 : kLuma[static_cast<std::size_t>(p % channels)];
        sum += weight * static_cast<double>(static_cast<Compute<T>>(x[p]));
      }
    });
    const int64_t pixels = size / channels;
    const double mean = sum / static_cast<double>(pixels) * (1.0 - factor);
    const auto offset =
        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i * size) * dtype_size(in.dtype));
    const Tensor from{in.as<char>() + offset, &shape, in.dtype};
    const Tensor to{out.as<char>() + offset, &shape, in.dtype};
    each_pixel(from, to, 4, [=](const auto* x, auto* y) {
      using C = std::remove_cvref_t<decltype(*y)>;
      for (int64_t c = 0; c < channels; ++c) y[c] = x[c] * factor + static_cast<C>(mean);
    });
  }
}

// Away from grey, or towards it. As existing programs have it, grey is what blue adds to it alone:
// images become darker, or lighter, too.
void change_saturation(const Tensor& in, const Tensor& out, float factor) {
  const bool grey = channels_of(in) == 1;
  each_pixel(in, out, 8, [=](const auto* x, auto* y) {
    if (grey) {
      y[0] = x[0];
      return;
    }
    const auto rest = x[2] * kLuma[2] * (1 - factor);
    for (int c = 0; c < 3; ++c) y[c] = x[c] * factor + rest;
  });
}

// Turns the hue by `turns` of the colour wheel: through hue, lightness and saturation and back.
template <class C>
void turn_hue(const C* x, C* y, float turns) {
  constexpr C kWhite = 255;
  const C red = x[0] / kWhite, green = x[1] / kWhite, blue = x[2] / kWhite;
  const C high = std::max({red, green, blue}), low = std::min({red, green, blue});
  const C chroma = high - low, lightness = (high + low) / 2;
  if (!(chroma > 0)) {
    std::copy_n(x, 3, y);
    return;
  }
  C sixth;  // of the wheel
  if (high == red) {
    sixth = (green - blue) / chroma;
  } else if (high == green) {
    sixth = 2 + (blue - red) / chroma;
  } else {
    sixth = 4 + (red - green) / chroma;
  }
  sixth += 6 * static_cast<C>(turns);
  // Each colour rises for a sixth, stays up for two, falls for one; green and blue follow red.
  const auto colour = [&](C shift) {
    C at = std::fmod(sixth + shift, C{6});
    if (at < 0) at += 6;
    const C part = std::clamp(std::fabs(at - 3) - 1, C{0}, C{1});
    return (lightness + chroma * (part - C(0.5))) * kWhite;
  };
  y[0] = colour(0);
  y[1] = colour(4);
  y[2] = colour(2);
}

void change_hue(const Tensor& in, const Tensor& out, float turns) {
  const bool grey = channels_of(in) == 1;
  each_pixel(in, out, 40, [=](const auto* x, auto* y) {
    if (grey) {
      y[0] = x[0];
    } else {
      turn_hue(x, y, turns);
    }
  });
}

// Along the directions in which the colours of photographs differ most (Krizhevsky et al. 2012):
// columns are eigenvectors times eigenvalues.
constexpr float kLight[3][3] = {{55.46f * -0.5675f, 4.794f * 0.7192f, 1.148f * 0.4009f},
                                {55.46f * -0.5808f, 4.794f * -0.0045f, 1.148f * -0.8140f},
                                {55.46f * -0.5836f, 4.794f * -0.6948f, 1.148f * 0.4203f}};

void change_light(const Tensor& in, const Tensor& out, const std::array<float, 3>& alpha) {
  const bool grey = channels_of(in) == 1;
  std::array<float, 3> add{};
  for (std::size_t c = 0; c < 3 && !grey; ++c) {
    for (std::size_t i = 0; i < 3; ++i) add[c] += kLight[c][i] * alpha[i];
  }
  each_pixel(in, out, 4, [=](const auto* x, auto* y) {
    for (std::size_t c = 0; c < (grey ? 1 : 3); ++c) y[c] = x[c] + add[c];
  });
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

float between(Draws& draws, float low, float high) {
  return low + (high - low) * draws.uniform<float>();
}

struct FactorParams {
  float min_factor, max_factor;
};

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
        change(context.in(0), context.out(0), between(draws, params.min_factor, params.max_factor));
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

struct JitterParams {
  float brightness, contrast, saturation, hue;
};

// The four changes in random order, those of amount 0 left out.
void jitter_cpu(const JitterParams& params, KernelContext& context) {
  struct Step {
    Change change;
    float amount;
  };
  std::array<Step, 4> steps{{{change_brightness, params.brightness},
                             {change_contrast, params.contrast},
                             {change_saturation, params.saturation},
                             {change_hue, params.hue}}};
  Draws draws(RandomStreams::of(context.device()).sequential());
  for (uint32_t i = 1; i < 4; ++i) std::swap(steps[i], steps[draws.below(i + 1)]);
  const Tensor* from = &context.in(0);
  const Tensor& out = context.out(0);
  for (const Step& step : steps) {
    if (step.amount <= 0) continue;
    step.change(*from, out, 1 + between(draws, -step.amount, step.amount));
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

struct AlphaParams {
  std::vector<float> alpha;
};

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

struct LightingParams {
  float alpha_std;
};

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
      const auto [red, green] = draws.normal_pair<float>();
      const float blue = draws.normal<float>();
      change_light(context.in(0), context.out(0),
                   {params.alpha_std * red, params.alpha_std * green, params.alpha_std * blue});
    })
    .grad(pass<LightingParams>);

}  // namespace
}  // namespace mxnet::image
