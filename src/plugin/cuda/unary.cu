// SPDX-License-Identifier: Apache-2.0
// Kernels of the unary rows. Bound by memory, so all the care goes into moving 16 bytes at a time.
#include "op/elemwise/unary_rows.h"

#include "plugin/cuda/map.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

using namespace row_words;  // NOLINT(google-build-using-namespace): rows are written in its words

#define MX_FUNCTIONS(name, aliases, doc, value, slope, uses) \
  struct Value_##name {                                      \
    template <class T>                                       \
    MX_DEVICE T operator()(T x) const {                      \
      return static_cast<T>(value);                          \
    }                                                        \
  };                                                         \
  struct Slope_##name {                                      \
    template <class T>                                       \
    MX_DEVICE T operator()(T dy, T arg) const {              \
      [[maybe_unused]] const T x = arg, y = arg;             \
      return dy * (slope);                                   \
    }                                                        \
  };
MX_UNARY_ROWS(MX_FUNCTIONS)
MX_UNARY_EXACT_ROWS(MX_FUNCTIONS)
#undef MX_FUNCTIONS

// Integers are computed in float where the row is real.
template <class F, bool kExact>
struct InFloat {
  F f;
  template <class T>
  MX_DEVICE auto operator()(T x) const {
    if constexpr (kExact || Kind<T>::kReal)
      return f(x);
    else
      return f(static_cast<float>(x));
  }
};

template <class F, bool kExact>
void value_of(NativeStream* stream, const char* name, const Tensor& x, const Tensor& y) {
  for_dtype<kNumeric.bits_>(x.dtype, name, [&](auto type) {
    using T = decltype(type);
    map_unary<T, T>(stream, name, InFloat<F, kExact>{}, x.data, y.data, x.size());
  });
}

template <class F>
void slope_of(NativeStream* stream, const char* name, const Tensor& dy, const Tensor& arg,
              const Tensor& dx) {
  for_dtype<kFloating.bits_>(dy.dtype, name, [&](auto type) {
    using T = decltype(type);
    map_binary<T, T>(stream, name, F{}, dy.data, arg.data, dx.data, dy.size());
  });
}

struct Row {
  const char* name;
  void (*value)(NativeStream*, const char*, const Tensor&, const Tensor&);
  void (*slope)(NativeStream*, const char*, const Tensor&, const Tensor&, const Tensor&);
};
#define MX_REAL(name, ...) {#name, value_of<Value_##name, false>, slope_of<Slope_##name>},
#define MX_EXACT(name, ...) {#name, value_of<Value_##name, true>, slope_of<Slope_##name>},
constexpr Row kRows[] = {MX_UNARY_ROWS(MX_REAL) MX_UNARY_EXACT_ROWS(MX_EXACT)};
#undef MX_REAL
#undef MX_EXACT

}  // namespace

void unary(NativeStream* stream, int row, const Tensor& x, const Tensor& y) {
  kRows[row].value(stream, kRows[row].name, x, y);
}
void unary_slope(NativeStream* stream, int row, const Tensor& dy, const Tensor& arg,
                 const Tensor& dx) {
  kRows[row].slope(stream, kRows[row].name, dy, arg, dx);
}

}  // namespace cuda
}  // namespace mxnet
