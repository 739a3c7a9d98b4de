// SPDX-License-Identifier: Apache-2.0
// Kernels of the arithmetic rows of two arguments, of their slopes, and what is added to an array.
// Rows share kernels: which one it is costs a branch that all threads take alike, where a kernel of
// its own for each row, type and form would cost minutes of nvcc.
#include "op/rows/binary_rows.h"
#include "plugin/cuda/binary_functions.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace row_words;  // NOLINT(google-build-using-namespace): rows are written in its words

enum class Row : int {
#define MX_ID(name, ...) name,
  MX_BINARY_ROWS(MX_ID) MX_INTEGER_ROWS(MX_ID)
#undef MX_ID
};
#define MX_NAME(name, ...) #name,
constexpr const char* kNames[] = {MX_BINARY_ROWS(MX_NAME) MX_INTEGER_ROWS(MX_NAME)};
#undef MX_NAME
constexpr int kCount = sizeof(kNames) / sizeof(kNames[0]);

// Rows of a few instructions have kernels apart from those that call functions, which need many
// registers.
constexpr bool is_light(Row row) {
  switch (row) {
    case Row::add:
    case Row::subtract:
    case Row::multiply:
    case Row::maximum:
    case Row::minimum:
    case Row::bitwise_and:
    case Row::bitwise_or:
    case Row::bitwise_xor:
      return true;
    default:
      return false;
  }
}

template <bool kLight>
struct Value {
  Row row;
  template <class T>
  MX_DEVICE T operator()(T a, T b) const {
    switch (row) {
#define MX_CASE(name, doc, value, ...)                                         \
  case Row::name:                                                              \
    if constexpr (is_light(Row::name) == kLight) return static_cast<T>(value); \
    break;
      MX_BINARY_ROWS(MX_CASE)
#undef MX_CASE
#define MX_CASE(name, doc, value)                                                                 \
  case Row::name:                                                                                 \
    if constexpr (!Kind<T>::kReal && is_light(Row::name) == kLight) return static_cast<T>(value); \
    break;
      MX_INTEGER_ROWS(MX_CASE)
#undef MX_CASE
    }
    return a;
  }
};

}  // namespace
template <>
inline constexpr bool kTakesPacks<Value<true>> = true;
namespace {

// dy * slope, towards a (kLeft) or b.
template <bool kLeft>
struct Slope {
  Row row;
  template <class T>
  MX_DEVICE T operator()(T a, T b) const {
    switch (row) {
#define MX_CASE(name, doc, value, slope_a, slope_b) \
  case Row::name:                                   \
    return kLeft ? (slope_a) : (slope_b);
      MX_BINARY_ROWS(MX_CASE)
#undef MX_CASE
      default:  // rows of integers have none
        return T(0);
    }
  }
};

// dx = dy * slope: three arrays of one size.
template <class F, class T>
struct TimesSlope {
  F f;
  const T *dy, *a, *b;
  T* dx;
  MX_DEVICE void operator()(int64_t i) const {
    dx[i] = narrow<T>(widen(dy[i]) * f(widen(a[i]), widen(b[i])));
  }
};

template <class F>
void run_slope(NativeStream* stream, const char* name, const F& f, const Tensor& dy,
               const Tensor& a, const Tensor& b, const Tensor& dx) {
  for_dtype<kFloating.bits_>(dy.dtype, name, [&](auto type) {
    using T = decltype(type);
    for_each(stream, name, dy.size(),
             TimesSlope<F, T>{f, dy.as<T>(), a.as<T>(), b.as<T>(), dx.as<T>()});
  });
}

// fn(the row's function, element type).
template <class F>
void for_row(int row, DType dtype, const F& fn) {
  const Row which = static_cast<Row>(row);
  const auto run = [&](const auto& value) {
    if (which >= Row::bitwise_and)
      for_dtype<kIntegers.bits_>(dtype, kNames[row], [&](auto type) { fn(value, type); });
    else
      for_dtype<kNumeric.bits_>(dtype, kNames[row], [&](auto type) { fn(value, type); });
  };
  is_light(which) ? run(Value<true>{which}) : run(Value<false>{which});
}

}  // namespace

void binary(NativeStream* stream, int row, const Tensor& a, const Tensor& b, const Tensor& y) {
  if (row >= kCount) return compare(stream, row - kCount, a, b, y);
  for_row(row, a.dtype, [&](const auto& value, auto type) {
    using T = decltype(type);
    run_binary<T, T>(stream, kNames[row], value, a, b, y);
  });
}
void binary_scalar(NativeStream* stream, int row, const Tensor& a, double number, bool scalar_left,
                   const Tensor& y) {
  if (row >= kCount) return compare_scalar(stream, row - kCount, a, number, scalar_left, y);
  for_row(row, a.dtype, [&](const auto& value, auto type) {
    using T = decltype(type);
    run_scalar<T, T>(stream, kNames[row], value, a, number, scalar_left, y);
  });
}
void binary_slope(NativeStream* stream, int row, bool left, const Tensor& dy, const Tensor& a,
                  const Tensor& b, const Tensor& dx) {
  const Row which = static_cast<Row>(row);
  if (left)
    run_slope(stream, kNames[row], Slope<true>{which}, dy, a, b, dx);
  else
    run_slope(stream, kNames[row], Slope<false>{which}, dy, a, b, dx);
}

void accumulate(NativeStream* stream, const Tensor& target, const Tensor& addend) {
  for_dtype(target.dtype, "add", [&](auto type) {
    using T = decltype(type);
    map_binary<T, T>(stream, "add", Value<true>{Row::add}, target.data, addend.data, target.data,
                     target.size());
  });
}

}  // namespace cuda
}  // namespace mxnet
