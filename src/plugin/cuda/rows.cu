// SPDX-License-Identifier: Apache-2.0
// Kernels that pick rows by position and add rows back (op/moving/rows.h).
#include "op/run/element_size.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/sorted_lines.cuh"

namespace mxnet {
namespace cuda {
namespace {

Position positions_of(const Tensor& positions, int64_t extent, OutOfRange rule) {
  return {{positions.data, positions.dtype}, extent, rule == OutOfRange::kWrap};
}

// Rows of `width` units: the widest integers that divide a row.
template <class E>
struct Gather {
  const E* in;
  E* out;
  Position position;
  Divider count, width;
  int64_t extent;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = width.quotient(i), k = i - row * width.by();
    const int64_t o = count.quotient(row), j = row - o * count.by();
    out[i] = in[(o * extent + position(j)) * width.by() + k];
  }
};

// E divides a row; `in` may be null, which stands for zeros.
template <class E>
struct PutRows {
  const E* in;
  E* out;
  const int64_t *sources, *targets;
  Divider width;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t j = width.quotient(i), k = i - j * width.by();
    out[targets[j] * width.by() + k] = in == nullptr ? E{} : in[sources[j] * width.by() + k];
  }
};

// fn(a value of the widest type that divides rows of `width` bytes of both arrays). Blocks of the
// pool are aligned to more than 16 bytes, views to their elements.
template <class F>
void with_row_unit(int64_t width, const void* in, const void* out, const F& fn) {
  const auto fits = [&](uintptr_t bytes) {
    return (static_cast<uintptr_t>(width) | reinterpret_cast<uintptr_t>(in) |
            reinterpret_cast<uintptr_t>(out)) %
               bytes ==
           0;
  };
  if (fits(kVectorBytes)) return fn(Pack<uint64_t, 2>{});
  if (fits(8)) return fn(uint64_t{});
  if (fits(4)) return fn(uint32_t{});
  if (fits(2)) return fn(uint16_t{});
  fn(uint8_t{});
}

// One element of each line, or (kPut) into it: E is the unit, an element.
template <class E, bool kPut>
struct Pick {
  const E* from;
  E* to;
  Position position;
  int64_t extent;
  Divider inner;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t outer = inner.quotient(i),
                  at = (outer * extent + position(i) - outer) * inner.by() + i;
    if constexpr (kPut)
      to[at] = from[i];
    else
      to[i] = from[at];
  }
};

// Rows of `in` that are added to rows of `sums`: element i is number k of row j of block o.
template <class T, class Sum>
struct RowsToAdd {
  const T* in;
  Sum* sums;
  Position position;
  Divider count, width;
  int64_t extent;

  struct Place {
    int64_t o, j, k;
  };
  MX_DEVICE Place place(int64_t i) const {
    const int64_t row = width.quotient(i), o = count.quotient(row);
    return {o, row - o * count.by(), i - row * width.by()};
  }
  MX_DEVICE Sum value(int64_t o, int64_t j, int64_t k) const {
    return static_cast<Sum>(widen(in[(o * count.by() + j) * width.by() + k]));
  }
  MX_DEVICE Sum* sum(int64_t o, int64_t target, int64_t k) const {
    return sums + (o * extent + target) * width.by() + k;
  }
};

template <class T, class Sum>
struct AddRows {
  RowsToAdd<T, Sum> rows;
  MX_DEVICE void operator()(int64_t i) const {
    const auto [o, j, k] = rows.place(i);
    atomic_add(rows.sum(o, rows.position(j), k), rows.value(o, j, k));
  }
};

struct FindTargets {
  Position position;
  int64_t* targets;
  MX_DEVICE void operator()(int64_t j) const { targets[j] = position(j); }
};

// As AddRows, each target's rows in the order of the positions: `sorted` are the rows by target,
// and those of one as they come. A target's first adds up all of them.
template <class T, class Sum>
struct AddRowsInOrder {
  RowsToAdd<T, Sum> rows;
  const int64_t *targets, *sorted;
  MX_DEVICE void operator()(int64_t i) const {
    const auto [o, rank, k] = rows.place(i);
    const int64_t target = targets[sorted[rank]];
    if (rank > 0 && targets[sorted[rank - 1]] == target) return;
    Sum sum = 0;
    int64_t at = rank, row = sorted[rank];
    do {
      sum += rows.value(o, row, k);
      if (++at == rows.count.by()) break;
      row = sorted[at];
    } while (targets[row] == target);
    *rows.sum(o, target, k) = sum;
  }
};

template <class Sum>
using Accumulator = std::conditional_t<std::is_same_v<Sum, double>, double,
                                       std::conditional_t<std::is_integral_v<Sum>, int64_t, float>>;

template <bool kPut>
void run_pick(NativeStream* stream, const Tensor& from, int64_t extent, int64_t inner,
              const Tensor& positions, OutOfRange rule, const Tensor& to) {
  const Position position = positions_of(positions, extent, rule);
  const auto run = [&](auto unit) {
    using E = decltype(unit);
    for_each(stream, kPut ? "put" : "pick", positions.size(),
             Pick<E, kPut>{from.as<E>(), to.as<E>(), position, extent, Divider(inner)});
  };
  dispatch_size(from.dtype, run);
}

}  // namespace

void pick(NativeStream* stream, const Tensor& data, int64_t extent, int64_t inner,
          const Tensor& positions, OutOfRange rule, const Tensor& out) {
  run_pick<false>(stream, data, extent, inner, positions, rule, out);
}

void put(NativeStream* stream, const Tensor& values, int64_t extent, int64_t inner,
         const Tensor& positions, OutOfRange rule, const Tensor& out) {
  run_pick<true>(stream, values, extent, inner, positions, rule, out);
}

void gather_rows(NativeStream* stream, const void* in, int64_t outer, int64_t extent, int64_t width,
                 const Tensor& positions, OutOfRange rule, void* out) {
  const int64_t count = positions.size();
  const Position position = positions_of(positions, extent, rule);
  with_row_unit(width, in, out, [&](auto unit) {
    using E = decltype(unit);
    const int64_t units = width / static_cast<int64_t>(sizeof(E));
    for_each(stream, "gather_rows", outer * count * units,
             Gather<E>{static_cast<const E*>(in), static_cast<E*>(out), position, Divider(count),
                       Divider(units), extent});
  });
}

void put_rows(NativeStream* stream, const void* in, int64_t width, const int64_t* sources,
              const int64_t* targets, int64_t count, void* out) {
  with_row_unit(width, in, out, [&](auto unit) {
    using E = decltype(unit);
    const int64_t units = width / static_cast<int64_t>(sizeof(E));
    for_each(stream, "put_rows", count * units,
             PutRows<E>{static_cast<const E*>(in), static_cast<E*>(out), sources, targets,
                        Divider(units)});
  });
}

void sum_rows(NativeStream* stream, const Tensor& in, int64_t outer, int64_t extent, int64_t width,
              const Tensor& positions, OutOfRange rule, const Tensor& out, KernelContext& context) {
  const int64_t count = positions.size();
  const Position position = positions_of(positions, extent, rule);
  for_dtype<kNumeric.bits_>(out.dtype, "gradient of an index", [&](auto element) {
    using T = decltype(element);
    using Sum = Accumulator<T>;
    Tensor sums = out;
    if constexpr (!std::is_same_v<T, Sum>) {
      sums.dtype = dtype_of<Sum>;
      sums.data = context.workspace_of<Sum>(out.size());
    }
    fill(stream, sums, 0);
    const RowsToAdd<T, Sum> rows{in.as<T>(),     sums.as<Sum>(), position,
                                 Divider(count), Divider(width), extent};
    const auto add = [&](const auto& each) {
      for_each(stream, "sum_rows", outer * count * width, each);
    };
    if (sums_in_order()) {
      auto* const targets = context.workspace_of<int64_t>(count);
      for_each(stream, "find_targets", count, FindTargets{position, targets});
      add(AddRowsInOrder<T, Sum>{rows, targets,
                                 sorted_places(context, targets, 1, count, count, true)});
    } else {
      add(AddRows<T, Sum>{rows});
    }
    if (sums.data != out.data) convert(stream, sums, out);
  });
}

}  // namespace cuda
}  // namespace mxnet
