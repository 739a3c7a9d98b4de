// SPDX-License-Identifier: Apache-2.0
// Kernels of the unary rows. What is computed in float has a kernel a row, bound by memory, so all
// the care goes into moving 16 bytes at a time. float64 and integers, which few ask for, share one
// kernel for all rows: nvcc would spend minutes on one each.
#include "op/rows/unary_rows.h"

#include "plugin/cuda/floats.cuh"
#include "plugin/cuda/lines.cuh"
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
#define MX_COUNT(...) +1
constexpr int kFunctions = 0 MX_UNARY_ROWS(MX_COUNT);
#undef MX_COUNT

// Functions of float64 and of integers: in double, since the whole part of exp(18) needs more
// digits than float has.
struct FunctionOfAny {
  RowId row;
  Numbers<double> x;
  Stored y;
  MX_DEVICE void operator()(int64_t i) const { y(i, value(x(i))); }
  MX_DEVICE double value(double number) const {
    switch (row) {
#define MX_CASE(name, ...) \
  case RowId::name:        \
    return Value_##name{}(number);
      MX_UNARY_ROWS(MX_CASE)
#undef MX_CASE
      default:
        return number;
    }
  }
};
// Rows that are exact, in double or in 64-bit integers, which wrap as those of fewer bits do.
template <class C>
struct ExactOfAny {
  RowId row;
  Numbers<C> x;
  Stored y;
  MX_DEVICE void operator()(int64_t i) const { y(i, value(x(i))); }
  MX_DEVICE C value(C number) const {
    switch (row) {
#define MX_CASE(name, ...) \
  case RowId::name:        \
    return Value_##name{}(number);
      MX_UNARY_EXACT_ROWS(MX_CASE)
#undef MX_CASE
      default:
        return number;
    }
  }
};
// In double for float64, in float for integers, as on the CPU.
template <class C>
struct SlopeOfAny {
  RowId row;
  Numbers<C> dy, arg;
  Stored dx;
  MX_DEVICE void operator()(int64_t i) const { dx(i, value(dy(i), arg(i))); }
  MX_DEVICE C value(C head, C at) const {
    switch (row) {
#define MX_CASE(name, ...) \
  case RowId::name:        \
    return Slope_##name{}(head, at);
      MX_UNARY_ROWS(MX_CASE)
      MX_UNARY_EXACT_ROWS(MX_CASE)
#undef MX_CASE
    }
    return head;
  }
};

struct Row {
  const char* name;
  void (*value)(NativeStream*, const char*, const Tensor&, const Tensor&);
  void (*slope)(NativeStream*, const char*, const Tensor&, const Tensor&, const Tensor&);
};
template <class F>
void value_of(NativeStream* stream, const char* name, const Tensor& x, const Tensor& y) {
  map_floats(stream, name, F{}, x, y);
}
template <class F>
void slope_of(NativeStream* stream, const char* name, const Tensor& dy, const Tensor& arg,
              const Tensor& dx) {
  map_floats(stream, name, F{}, dy, arg, dx);
}
#define MX_ROW(name, ...) {#name, value_of<Value_##name>, slope_of<Slope_##name>},
constexpr Row kRows[] = {MX_UNARY_ROWS(MX_ROW) MX_UNARY_EXACT_ROWS(MX_ROW)};
#undef MX_ROW

}  // namespace

void unary(NativeStream* stream, int row, const Tensor& x, const Tensor& y) {
  const char* const name = kRows[row].name;
  if (is_in_float(x.dtype)) return kRows[row].value(stream, name, x, y);
  const RowId which = static_cast<RowId>(row);
  const Stored to{y.data, y.dtype};
  if (row < kFunctions)
    for_each(stream, name, x.size(), FunctionOfAny{which, {x.data, x.dtype}, to});
  else if (x.dtype == DType::kFloat64)
    for_each(stream, name, x.size(), ExactOfAny<double>{which, {x.data, x.dtype}, to});
  else
    for_each(stream, name, x.size(), ExactOfAny<int64_t>{which, {x.data, x.dtype}, to});
}
void unary_slope(NativeStream* stream, int row, const Tensor& dy, const Tensor& arg,
                 const Tensor& dx) {
  const char* const name = kRows[row].name;
  if (is_in_float(dy.dtype)) return kRows[row].slope(stream, name, dy, arg, dx);
  const auto run = [&](auto zero) {
    using C = decltype(zero);
    for_each(stream, name, dy.size(),
             SlopeOfAny<C>{static_cast<RowId>(row),
                           {dy.data, dy.dtype},
                           {arg.data, arg.dtype},
                           {dx.data, dx.dtype}});
  };
  dy.dtype == DType::kFloat64 ? run(0.0) : run(0.0f);
}

}  // namespace cuda
}  // namespace mxnet
