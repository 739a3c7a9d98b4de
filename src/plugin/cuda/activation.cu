// SPDX-License-Identifier: Apache-2.0
// Kernels of the activation rows (op/norm/activation_loops.h), and clipping. Rows share kernels:
// which one it is costs a branch that all threads take alike, while they wait for memory.
#include "op/norm/activation_loops.h"

#include <limits>

#include "plugin/cuda/floats.cuh"
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

// Rows of an instruction or two have kernels apart from those that call functions, which need more
// registers.
enum class Rows { kLight, kOthers, kAll };
constexpr bool is_light(ActivationRow row) {
  return row == ActivationRow::relu || row == ActivationRow::leaky;
}
constexpr bool holds(Rows rows, ActivationRow row) {
  return rows == Rows::kAll || (rows == Rows::kLight) == is_light(row);
}

template <class C, Rows kRows>
struct Value {
  ActivationRow row;
  C parameter;
  MX_DEVICE C operator()(C x) const {
    using T = C;
    [[maybe_unused]] const T s = parameter;
    switch (row) {
#define MX_CASE(name, value, ...)                                                  \
  case ActivationRow::name:                                                        \
    if constexpr (holds(kRows, ActivationRow::name)) return static_cast<T>(value); \
    break;
      MX_ACTIVATION_ROWS(MX_CASE)
#undef MX_CASE
    }
    return x;
  }
};
template <class C, Rows kRows>
struct Slope {
  ActivationRow row;
  C parameter;
  MX_DEVICE C operator()(C dy, C arg) const {
    using T = C;
    [[maybe_unused]] const T x = arg, y = arg, s = parameter;
    switch (row) {
#define MX_CASE(name, value, slope, ...)                                                \
  case ActivationRow::name:                                                             \
    if constexpr (holds(kRows, ActivationRow::name)) return dy * static_cast<T>(slope); \
    break;
      MX_ACTIVATION_ROWS(MX_CASE)
#undef MX_CASE
    }
    return dy;
  }
};
#define MX_NAME(name, ...) #name,
constexpr const char* kNames[] = {MX_ACTIVATION_ROWS(MX_NAME)};
#undef MX_NAME

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
  if (is_in_float(x.dtype))
    return map_floats(stream, "clip", Clip<float>{limit<float>(low), limit<float>(high)}, x, y);
  for_dtype<kNumeric.bits_>(x.dtype, "clip", [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_same_v<Compute<T>, T>)
      map_unary<T, T>(stream, "clip", Clip<T>{limit<T>(low), limit<T>(high)}, x.data, y.data,
                      x.size());
  });
}

void clip_slope(NativeStream* stream, double low, double high, const Tensor& dy, const Tensor& x,
                const Tensor& dx) {
  if (is_in_float(dy.dtype))
    return map_floats(stream, "clip_slope", ClipSlope<float>{limit<float>(low), limit<float>(high)},
                      dy, x, dx);
  for_dtype<kNumeric.bits_>(dy.dtype, "clip", [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_same_v<Compute<T>, T>)
      map_binary<T, T>(stream, "clip_slope", ClipSlope<T>{limit<T>(low), limit<T>(high)}, dy.data,
                       x.data, dx.data, dx.size());
  });
}

void activation(NativeStream* stream, int row, double slope, const Tensor& x, const Tensor& y) {
  const char* const name = kNames[row];
  const auto which = static_cast<ActivationRow>(row);
  const auto s = static_cast<float>(slope);
  if (x.dtype == DType::kFloat64)
    map_unary<double, double>(stream, name, Value<double, Rows::kAll>{which, slope}, x.data, y.data,
                              x.size());
  else if (is_light(which))
    map_floats(stream, name, Value<float, Rows::kLight>{which, s}, x, y);
  else
    map_floats(stream, name, Value<float, Rows::kOthers>{which, s}, x, y);
}

void activation_slope(NativeStream* stream, int row, double slope, const Tensor& dy,
                      const Tensor& arg, const Tensor& dx) {
  const char* const name = kNames[row];
  const auto which = static_cast<ActivationRow>(row);
  const auto s = static_cast<float>(slope);
  if (dy.dtype == DType::kFloat64)
    map_binary<double, double>(stream, name, Slope<double, Rows::kAll>{which, slope}, dy.data,
                               arg.data, dx.data, dx.size());
  else if (is_light(which))
    map_floats(stream, name, Slope<float, Rows::kLight>{which, s}, dy, arg, dx);
  else
    map_floats(stream, name, Slope<float, Rows::kOthers>{which, s}, dy, arg, dx);
}

}  // namespace cuda
}  // namespace mxnet
