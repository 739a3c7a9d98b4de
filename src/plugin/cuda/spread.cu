// SPDX-License-Identifier: Apache-2.0
// Kernels of the way back of reductions (op/reduce/spread_rows.h), and sums of what a copy
// repeated.
#include "op/moving/strided_copy.h"
#include "op/reduce/spread_rows.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

MX_DEVICE bool uses_x(Spread row) { return row != Spread::sum && row != Spread::mean; }
MX_DEVICE bool uses_y(Spread row) {
  return row == Spread::equal || row == Spread::ratio || row == Spread::nanratio ||
         row == Spread::direction;
}
#define MX_NAME(name, ...) "spread_" #name,
constexpr const char* kNames[] = {MX_SPREAD_ROWS(MX_NAME)};
#undef MX_NAME

// All rows in one kernel a type: threads wait for memory, and take the same branch.
template <class T>
struct SpreadRow {
  Spread row;
  const T *dy, *value, *element;
  T* dx;
  Walk<1> walk;  // from an element to its output
  int64_t n;
  MX_DEVICE void operator()(int64_t i) const {
    using C = Compute<T>;
    int64_t at[1];
    walk.offsets(i, at);
    const C g = widen(dy[at[0]]);
    const C y = uses_y(row) ? widen(value[at[0]]) : C(0);
    const C x = uses_x(row) ? widen(element[i]) : C(0);
    switch (row) {
#define MX_CASE(name, expression)                  \
  case Spread::name:                               \
    dx[i] = narrow<T>(static_cast<C>(expression)); \
    break;
      MX_SPREAD_ROWS(MX_CASE)
#undef MX_CASE
    }
  }
};

// Sums of the places of `spread` that one element was copied to.
template <class T, class Sum>
struct SumStrided {
  const T* spread;
  T* sums;
  Walk<2> kept;  // offsets in sums, in spread
  Walk<1> repeated;
  int64_t count;
  MX_DEVICE Sum part(int64_t i, int lane, int lanes) const {
    int64_t base[2], at[1];
    kept.offsets(i, base);
    Sum sum{};
    for (int64_t k = lane; k < count; k += lanes) {
      repeated.offsets(k, at);
      sum += static_cast<Sum>(widen(spread[base[1] + at[0]]));
    }
    return sum;
  }
  MX_DEVICE Sum merge(Sum a, Sum b) const { return a + b; }
  MX_DEVICE void finish(int64_t i, Sum sum) const {
    int64_t base[2];
    kept.offsets(i, base);
    sums[base[0]] = narrow<T>(sum);
  }
  MX_DEVICE void operator()(int64_t i) const { finish(i, part(i, 0, 1)); }
};

}  // namespace

void spread(NativeStream* stream, int row, const Tensor& dy, const Tensor* y, const Tensor* x,
            uint32_t axes, const Tensor& dx, int64_t ddof) {
  int64_t steps[Shape::kMaxDims], step = 1, extent = 1;
  for (int d = dx.ndim() - 1; d >= 0; --d) {
    const bool reduced = (axes >> d & 1) != 0;
    steps[d] = reduced ? 0 : step;
    (reduced ? extent : step) *= dx.dim(d);
  }
  Walk<1> walk;
  for (int d = 0; d < dx.ndim(); ++d) walk.add(dx.dim(d), {steps[d]});
  const int64_t n = extent > ddof ? extent - ddof : 0;
  for_dtype(dx.dtype, "spread", [&](auto type) {
    using T = decltype(type);
    const T* value = y == nullptr ? nullptr : y->as<T>();
    const T* element = x == nullptr ? nullptr : x->as<T>();
    for_each(
        stream, kNames[row], dx.size(),
        SpreadRow<T>{static_cast<Spread>(row), dy.as<T>(), value, element, dx.as<T>(), walk, n});
  });
}

void sum_strided(NativeStream* stream, const StridedPlan& plan, const Tensor& spread,
                 const Tensor& sums) {
  Walk<2> kept;
  Walk<1> repeated;
  int64_t outputs = 1, count = 1;
  for (const StridedPlan::Dim& dim : plan.dims()) {
    if (dim.in_step == 0) {
      repeated.add(dim.size, {dim.out_step});
      count *= dim.size;
    } else {
      kept.add(dim.size, {dim.in_step, dim.out_step});
      outputs *= dim.size;
    }
  }
  // Elements that were not copied at all get no sum.
  if (outputs * count == 0 || outputs != sums.size()) fill(stream, sums, 0);
  if (outputs * count == 0) return;
  for_dtype<kNumeric.bits_>(spread.dtype, "gradient", [&](auto type) {
    using T = decltype(type);
    using Sum = std::conditional_t<std::is_integral_v<T>, int64_t,
                                   std::conditional_t<std::is_same_v<T, double>, double, float>>;
    const SumStrided<T, Sum> f{spread.as<T>() + plan.out_offset, sums.as<T>() + plan.in_offset,
                               kept, repeated, count};
    constexpr int64_t kShort = 32, kLong = 2048;  // lengths that a thread, and a warp, take
    if (count < kShort)
      for_each(stream, "sum_strided", outputs, f);
    else
      for_each_group(stream, "sum_strided", outputs, count >= kLong, f);
  });
}

}  // namespace cuda
}  // namespace mxnet
