// SPDX-License-Identifier: Apache-2.0
// Kernels of the activation rows (op/norm/activation_loops.h).
#include "op/norm/activation_loops.h"

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

}  // namespace

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
