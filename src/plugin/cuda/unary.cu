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

enum class RowId : int {
#define MX_ID(name, ...) name,
  MX_UNARY_ROWS(MX_ID) MX_UNARY_EXACT_ROWS(MX_ID)
#undef MX_ID
};

template <class F>
void value_of(NativeStream* stream, const char* name, const Tensor& x, const Tensor& y) {
  for_dtype<kFloating.bits_>(x.dtype, name, [&](auto type) {
    using T = decltype(type);
    map_unary<T, T>(stream, name, F{}, x.data, y.data, x.size());
  });
}

// All rows of integers in one kernel a type: few ask for them. Computed in double where the row is
// real: the whole part of exp(18) needs more digits than float has.
template <class T>
struct OfIntegers {
  int row;
  const T* x;
  T* y;
  MX_DEVICE void operator()(int64_t i) const {
    switch (row) {
#define MX_CASE(name, ...)                                              \
  case static_cast<int>(RowId::name):                                   \
    y[i] = narrow<T>(Value_##name{}(static_cast<double>(widen(x[i])))); \
    break;
      MX_UNARY_ROWS(MX_CASE)
#undef MX_CASE
#define MX_CASE(name, ...)                  \
  case static_cast<int>(RowId::name):       \
    y[i] = narrow<T>(Value_##name{}(x[i])); \
    break;
      MX_UNARY_EXACT_ROWS(MX_CASE)
#undef MX_CASE
      default:
        break;
    }
  }
};

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
#define MX_ROW(name, ...) {#name, value_of<Value_##name>, slope_of<Slope_##name>},
constexpr Row kRows[] = {MX_UNARY_ROWS(MX_ROW) MX_UNARY_EXACT_ROWS(MX_ROW)};
#undef MX_ROW

}  // namespace

void unary(NativeStream* stream, int row, const Tensor& x, const Tensor& y) {
  if (is_floating(x.dtype)) return kRows[row].value(stream, kRows[row].name, x, y);
  for_dtype<kIntegers.bits_>(x.dtype, kRows[row].name, [&](auto type) {
    using T = decltype(type);
    for_each(stream, kRows[row].name, x.size(), OfIntegers<T>{row, x.as<T>(), y.as<T>()});
  });
}
void unary_slope(NativeStream* stream, int row, const Tensor& dy, const Tensor& arg,
                 const Tensor& dx) {
  kRows[row].slope(stream, kRows[row].name, dy, arg, dx);
}

}  // namespace cuda
}  // namespace mxnet
