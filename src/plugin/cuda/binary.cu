// SPDX-License-Identifier: Apache-2.0
// Kernels of the arithmetic rows of two arguments, of their slopes, and what is added to an array.
#include "plugin/cuda/binary_functions.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace row_words;                    // NOLINT(google-build-using-namespace)
using namespace row_words::binary_functions;  // NOLINT(google-build-using-namespace)

// dx = dy * slope: three arrays of one size.
template <class F, class T>
struct Slope {
  F f;
  const T *dy, *a, *b;
  T* dx;
  MX_DEVICE void operator()(int64_t i) const {
    dx[i] = narrow<T>(widen(dy[i]) * f(widen(a[i]), widen(b[i])));
  }
};
#define MX_SLOPES(name, doc, value, slope_a, slope_b) \
  struct Left_##name {                                \
    template <class T>                                \
    MX_DEVICE T operator()(T a, T b) const {          \
      return slope_a;                                 \
    }                                                 \
  };                                                  \
  struct Right_##name {                               \
    template <class T>                                \
    MX_DEVICE T operator()(T a, T b) const {          \
      return slope_b;                                 \
    }                                                 \
  };
MX_BINARY_ROWS(MX_SLOPES)
#undef MX_SLOPES

template <class F, uint16_t kSet>
void arrays(NativeStream* stream, const char* name, const Tensor& a, const Tensor& b,
            const Tensor& y) {
  for_dtype<kSet>(a.dtype, name, [&](auto type) {
    using T = decltype(type);
    run_binary<F, T, T>(stream, name, a, b, y);
  });
}
template <class F, uint16_t kSet>
void scalar(NativeStream* stream, const char* name, const Tensor& a, double number, bool left,
            const Tensor& y) {
  for_dtype<kSet>(a.dtype, name, [&](auto type) {
    using T = decltype(type);
    run_scalar<F, T, T>(stream, name, a, number, left, y);
  });
}
template <class F>
void slope(NativeStream* stream, const char* name, const Tensor& dy, const Tensor& a,
           const Tensor& b, const Tensor& dx) {
  for_dtype<kFloating.bits_>(dy.dtype, name, [&](auto type) {
    using T = decltype(type);
    for_each(stream, name, dy.size(),
             Slope<F, T>{F{}, dy.as<T>(), a.as<T>(), b.as<T>(), dx.as<T>()});
  });
}

#define MX_NUMERIC(name, ...) \
  {#name, arrays<Value_##name, kNumeric.bits_>, scalar<Value_##name, kNumeric.bits_>},
#define MX_INTEGER(name, ...) \
  {#name, arrays<Value_##name, kIntegers.bits_>, scalar<Value_##name, kIntegers.bits_>},
constexpr BinaryEntry kEntries[] = {MX_BINARY_ROWS(MX_NUMERIC) MX_INTEGER_ROWS(MX_INTEGER)};
#undef MX_NUMERIC
#undef MX_INTEGER
constexpr int kCount = sizeof(kEntries) / sizeof(kEntries[0]);

using SlopeCall = void (*)(NativeStream*, const char*, const Tensor&, const Tensor&, const Tensor&,
                           const Tensor&);
#define MX_LEFT(name, ...) slope<Left_##name>,
#define MX_RIGHT(name, ...) slope<Right_##name>,
constexpr SlopeCall kLeft[] = {MX_BINARY_ROWS(MX_LEFT)};
constexpr SlopeCall kRight[] = {MX_BINARY_ROWS(MX_RIGHT)};
#undef MX_LEFT
#undef MX_RIGHT

const BinaryEntry& entry(int row) {
  return row < kCount ? kEntries[row] : compare_entry(row - kCount);
}

}  // namespace

void binary(NativeStream* stream, int row, const Tensor& a, const Tensor& b, const Tensor& y) {
  entry(row).arrays(stream, entry(row).name, a, b, y);
}
void binary_scalar(NativeStream* stream, int row, const Tensor& a, double number, bool scalar_left,
                   const Tensor& y) {
  entry(row).scalar(stream, entry(row).name, a, number, scalar_left, y);
}
void binary_slope(NativeStream* stream, int row, bool left, const Tensor& dy, const Tensor& a,
                  const Tensor& b, const Tensor& dx) {
  (left ? kLeft : kRight)[row](stream, kEntries[row].name, dy, a, b, dx);
}

void accumulate(NativeStream* stream, const Tensor& target, const Tensor& addend) {
  for_dtype(target.dtype, "add", [&](auto type) {
    using T = decltype(type);
    map_binary<T, T>(stream, "add", Value_add{}, target.data, addend.data, target.data,
                     target.size());
  });
}

}  // namespace cuda
}  // namespace mxnet
