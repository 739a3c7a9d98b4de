// SPDX-License-Identifier: Apache-2.0
// Kernels that pick rows by position and add rows back (op/index/rows.h).
#include "op/params.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

// Positions of any type, brought into [0, extent).
template <class I>
struct Position {
  const I* data;
  int64_t extent;
  bool wraps;
  MX_DEVICE int64_t operator()(int64_t j) const {
    int64_t at = static_cast<int64_t>(widen(data[j]));
    if (!wraps) return at < 0 ? 0 : at >= extent ? extent - 1 : at;
    at %= extent;
    return at < 0 ? at + extent : at;
  }
};

// Rows of `width` units: the widest integers that divide a row.
template <class E, class I>
struct Gather {
  const E* in;
  E* out;
  Position<I> position;
  int64_t count, extent, width;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t k = i % width, j = i / width % count, o = i / width / count;
    out[i] = in[(o * extent + position(j)) * width + k];
  }
};

template <class T, class Sum, class I>
struct AddRows {
  const T* in;
  Sum* sums;
  Position<I> position;
  int64_t count, extent, width;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t k = i % width, j = i / width % count, o = i / width / count;
    atomic_add(sums + (o * extent + position(j)) * width + k, static_cast<Sum>(widen(in[i])));
  }
};

template <class Sum>
using Accumulator = std::conditional_t<std::is_same_v<Sum, double>, double,
                                       std::conditional_t<std::is_integral_v<Sum>, int64_t, float>>;

// fn(I{}) for the type of positions; others are converted to float or int64 by whoever calls.
template <class F>
void for_positions(DType dtype, const F& fn) {
  for_dtype(dtype, "positions", fn);
}

}  // namespace

void gather_rows(NativeStream* stream, const void* in, int64_t outer, int64_t extent, int64_t width,
                 const Tensor& positions, OutOfRange rule, void* out) {
  const int64_t count = positions.size();
  for_positions(positions.dtype, [&](auto type) {
    using I = decltype(type);
    const Position<I> position{positions.as<I>(), extent, rule == OutOfRange::kWrap};
    const auto run = [&](auto unit) {
      using E = decltype(unit);
      const int64_t units = width / static_cast<int64_t>(sizeof(E));
      for_each(stream, "gather_rows", outer * count * units,
               Gather<E, I>{static_cast<const E*>(in), static_cast<E*>(out), position, count,
                            extent, units});
    };
    // Blocks of the pool are aligned to more than 8 bytes, views to their elements.
    const auto fits = [&](uintptr_t bytes) {
      return (static_cast<uintptr_t>(width) | reinterpret_cast<uintptr_t>(in) |
              reinterpret_cast<uintptr_t>(out)) %
                 bytes ==
             0;
    };
    if (fits(8)) return run(uint64_t{});
    if (fits(4)) return run(uint32_t{});
    if (fits(2)) return run(uint16_t{});
    run(uint8_t{});
  });
}

void sum_rows(NativeStream* stream, const Tensor& in, int64_t outer, int64_t extent, int64_t width,
              const Tensor& positions, OutOfRange rule, const Tensor& out, KernelContext& context) {
  const int64_t count = positions.size();
  for_dtype<kNumeric.bits_>(out.dtype, "gradient of an index", [&](auto element) {
    using T = decltype(element);
    using Sum = Accumulator<T>;
    Tensor sums = out;
    if constexpr (!std::is_same_v<T, Sum>) {
      sums.dtype = dtype_of<Sum>;
      sums.data = context.workspace_of<Sum>(out.size());
    }
    fill(stream, sums, 0);
    for_positions(positions.dtype, [&](auto type) {
      using I = decltype(type);
      const Position<I> position{positions.as<I>(), extent, rule == OutOfRange::kWrap};
      for_each(stream, "sum_rows", outer * count * width,
               AddRows<T, Sum, I>{in.as<T>(), sums.as<Sum>(), position, count, extent, width});
    });
    if (sums.data != out.data) convert(stream, sums, out);
  });
}

}  // namespace cuda
}  // namespace mxnet
