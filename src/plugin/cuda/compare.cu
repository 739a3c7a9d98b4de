// SPDX-License-Identifier: Apache-2.0
// Kernels of the comparing rows: results have the arguments' type, or are bool. All rows share one
// kernel a type: what a row says of each way in which two numbers can meet is a table of four bits.
#include <limits>

#include "op/rows/binary_rows.h"
#include "plugin/cuda/binary_functions.cuh"

namespace mxnet {
namespace cuda {
namespace {

struct Truth {
  // Bit k: the answer for pairs of kind k. Kinds are less, equal, greater, unordered, or, where
  // only zero and not zero matter, 2 * (a is not zero) + (b is not zero).
  uint32_t answers;
  bool of_zeros;

  template <class T>
  MX_DEVICE uint8_t operator()(T a, T b) const {
    const int order = a < b ? 0 : a == b ? 1 : a > b ? 2 : 3;
    const int zeros = 2 * static_cast<int>(a != T(0)) + static_cast<int>(b != T(0));
    return static_cast<uint8_t>(answers >> (of_zeros ? zeros : order) & 1u);
  }
};

using Row = bool (*)(float a, float b);
#define MX_ROW(name, doc, value)          \
  [](float a, float b) -> bool {          \
    using T = float;                      \
    return static_cast<T>(value) != T(0); \
  },
constexpr Row kRows[] = {MX_COMPARE_ROWS(MX_ROW)};
#undef MX_ROW
#define MX_NAME(name, ...) #name,
constexpr const char* kNames[] = {MX_COMPARE_ROWS(MX_NAME)};
#undef MX_NAME

// What the row's own expression answers for one pair of each kind. A row that tells 1 from 2 looks
// at the order.
Truth truth_of(int row) {
  const Row value = kRows[row];
  const auto bits = [&](const float(&a)[4], const float(&b)[4]) {
    uint32_t answers = 0;
    for (int k = 0; k < 4; ++k) answers |= static_cast<uint32_t>(value(a[k], b[k])) << k;
    return answers;
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const bool of_zeros = value(1, 2) == value(1, 1) && value(2, 1) == value(1, 1);
  if (of_zeros) return {bits({0, 0, 1, 1}, {0, 1, 0, 1}), true};
  return {bits({1, 1, 2, kNan}, {2, 1, 1, 1}), false};
}

// fn(element type of the arguments, of the result).
template <class F>
void for_types(DType in, DType out, const char* name, const F& fn) {
  for_dtype(in, name, [&](auto type) {
    if (out == DType::kBool)
      fn(type, bool{});
    else
      fn(type, type);
  });
}

}  // namespace

void compare(NativeStream* stream, int row, const Tensor& a, const Tensor& b, const Tensor& y) {
  for_types(a.dtype, y.dtype, kNames[row], [&](auto in, auto out) {
    run_binary<decltype(in), decltype(out)>(stream, kNames[row], truth_of(row), a, b, y);
  });
}
void compare_scalar(NativeStream* stream, int row, const Tensor& a, double number, bool scalar_left,
                    const Tensor& y) {
  for_types(a.dtype, y.dtype, kNames[row], [&](auto in, auto out) {
    run_scalar<decltype(in), decltype(out)>(stream, kNames[row], truth_of(row), a, number,
                                            scalar_left, y);
  });
}

}  // namespace cuda
}  // namespace mxnet
