// SPDX-License-Identifier: Apache-2.0
// Kernels of the activation rows (op/norm/activation_loops.h), and clipping.
#include "op/norm/activation_loops.h"

#include <limits>

#include "plugin/cuda/map.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

using namespace row_words;  // NOLINT(google-build-using-namespace): rows are written in its words

// The part of the normal distribution below x, and x times its density.
MX_DEVICE float normal_below(float x) { return 0.5f * ::erfcf(x * -0.70710678118654752440f); }
MX_DEVICE double normal_below(double x) { return 0.5 * ::erfc(x * -0.70710678118654752440); }
template <class T>
MX_DEVICE T weighted_density(T x) {
  return x == x && x - x != x - x ? T(0) : x * (T(kNormal) * exp(T(-0.5) * x * x));
}

#define MX_FUNCTIONS(name, value, slope, uses)                  \
  template <class C>                                            \
  struct Value_##name {                                         \
    C parameter;                                                \
    MX_DEVICE C operator()(C x) const {                         \
      using T = C;                                              \
      [[maybe_unused]] const T s = parameter;                   \
      return static_cast<T>(value);                             \
    }                                                           \
  };                                                            \
  template <class C>                                            \
  struct Slope_##name {                                         \
    C parameter;                                                \
    MX_DEVICE C operator()(C dy, C arg) const {                 \
      using T = C;                                              \
      [[maybe_unused]] const T x = arg, y = arg, s = parameter; \
      return dy * static_cast<T>(slope);                        \
    }                                                           \
  };
MX_ACTIVATION_ROWS(MX_FUNCTIONS)
#undef MX_FUNCTIONS

// NaN passes through both.
template <class C>
struct Clip {
  C low, high;
  MX_DEVICE C operator()(C x) const { return x > high ? high : x < low ? low : x; }
};
template <class C>
struct ClipSlope {
  C low, high;
  MX_DEVICE C operator()(C dy, C x) const { return ((x < low) | (x > high)) ? C(0) : dy; }
};
// A limit as a value of the elements' type: the nearest that it has.
template <class C>
C limit(double value) {
  if constexpr (std::is_integral_v<C>) {
    using Range = std::numeric_limits<C>;
    if (value <= static_cast<double>(Range::min())) return Range::min();
    if (value >= static_cast<double>(Range::max())) return Range::max();
  }
  return static_cast<C>(value);
}

}  // namespace

void clip(NativeStream* stream, double low, double high, const Tensor& x, const Tensor& y) {
  for_dtype<kNumeric.bits_>(x.dtype, "clip", [&](auto type) {
    using T = decltype(type);
    using C = Compute<T>;
    map_unary<T, T>(stream, "clip", Clip<C>{limit<C>(low), limit<C>(high)}, x.data, y.data,
                    x.size());
  });
}

void clip_slope(NativeStream* stream, double low, double high, const Tensor& dy, const Tensor& x,
                const Tensor& dx) {
  for_dtype<kNumeric.bits_>(dy.dtype, "clip", [&](auto type) {
    using T = decltype(type);
    using C = Compute<T>;
    map_binary<T, T>(stream, "clip_slope", ClipSlope<C>{limit<C>(low), limit<C>(high)}, dy.data,
                     x.data, dx.data, dx.size());
  });
}

void activation(NativeStream* stream, int row, double slope, const Tensor& x, const Tensor& y) {
  for_dtype<kFloating.bits_>(x.dtype, "activation", [&](auto type) {
    using T = decltype(type);
    using C = Compute<T>;
    switch (static_cast<ActivationRow>(row)) {
#define MX_CASE(name, ...)                                                                        \
  case ActivationRow::name:                                                                       \
    return map_unary<T, T>(stream, #name, Value_##name<C>{static_cast<C>(slope)}, x.data, y.data, \
                           x.size());
      MX_ACTIVATION_ROWS(MX_CASE)
#undef MX_CASE
    }
  });
}

void activation_slope(NativeStream* stream, int row, double slope, const Tensor& dy,
                      const Tensor& arg, const Tensor& dx) {
  for_dtype<kFloating.bits_>(dy.dtype, "activation", [&](auto type) {
    using T = decltype(type);
    using C = Compute<T>;
    switch (static_cast<ActivationRow>(row)) {
#define MX_CASE(name, ...)                                                                  \
  case ActivationRow::name:                                                                 \
    return map_binary<T, T>(stream, #name, Slope_##name<C>{static_cast<C>(slope)}, dy.data, \
                            arg.data, dx.data, dx.size());
      MX_ACTIVATION_ROWS(MX_CASE)
#undef MX_CASE
    }
  });
}

}  // namespace cuda
}  // namespace mxnet
