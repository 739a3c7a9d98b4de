// SPDX-License-Identifier: Apache-2.0
// Loops over rows: positions are read a block at a time, rows are copied by their width.
#include "op/index/rows.h"

#include <cstring>

#include "base/error.h"
#include "op/convert.h"
#include "op/dispatch.h"
#include "op/gpu.h"
#include "op/gpu_table.h"
#include "op/index/position_loops.h"
#include "op/parallel.h"

namespace mxnet {
namespace {

using GatherBlock = void (*)(const char* in, char* out, const int64_t* positions, int64_t n,
                             int64_t width);

// A width that is known makes the copy one load and one store.
template <std::size_t kWidth>
void gather_fixed(const char* in, char* out, const int64_t* positions, int64_t n, int64_t) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(out + i * static_cast<int64_t>(kWidth),
                in + positions[i] * static_cast<int64_t>(kWidth), kWidth);
  }
}

// Rows of one element of 4 or 8 bytes.
template <class T>
void gather_element(const char* in, char* out, const int64_t* positions, int64_t n, int64_t) {
  gather_elements(reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out), positions, n);
}

void gather_any(const char* in, char* out, const int64_t* positions, int64_t n, int64_t width) {
  constexpr int64_t kAhead = 4;  // rows; hides the latency of rows that are not in cache
  for (int64_t i = 0; i < n; ++i) {
    if (i + kAhead < n) __builtin_prefetch(in + positions[i + kAhead] * width);
    std::memcpy(out + i * width, in + positions[i] * width, static_cast<std::size_t>(width));
  }
}

// Elements at clipped positions of the usual types are picked without a copy of the positions.
// Whether these are such.
template <class T>
bool gather_at_once(const void* in, int64_t extent, const Positions& positions, void* out) {
  const auto run = [&]<class Index>(const Index* at) {
    parallel_for(positions.count(), 2.0, [&](int64_t first, int64_t last) {
      gather_clipped(static_cast<const T*>(in), static_cast<T*>(out) + first, at + first,
                     last - first, extent);
    });
  };
  if (positions.rule() != OutOfRange::kClip) return false;
  if (positions.indices().dtype == DType::kInt64) {
    run(static_cast<const int64_t*>(positions.indices().data));
  } else if (positions.indices().dtype == DType::kInt32) {
    run(static_cast<const int32_t*>(positions.indices().data));
  } else {
    return false;
  }
  return true;
}

GatherBlock gather_block(int64_t width) {
  switch (width) {
    case 1:
      return gather_fixed<1>;
    case 2:
      return gather_fixed<2>;
    case 4:
      return gather_element<uint32_t>;
    case 8:
      return gather_element<uint64_t>;
    case 16:
      return gather_fixed<16>;
    case 32:
      return gather_fixed<32>;
    case 64:
      return gather_fixed<64>;
    case 128:
      return gather_fixed<128>;
    default:
      return gather_any;
  }
}

// Adds the rows whose target is in [low, high).
template <class T, class Sum>
void add_rows(const T* in, const Positions& positions, int64_t low, int64_t high, int64_t width,
              Sum* sums) {
  for_blocks(positions, 0, positions.count(), [&](int64_t start, const int64_t* at, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      if (at[i] < low || at[i] >= high) continue;
      const T* row = in + (start + i) * width;
      Sum* sum = sums + at[i] * width;
      for (int64_t k = 0; k < width; ++k) sum[k] += convert<Sum>(row[k]);
    }
  });
}

// A kernel there cannot throw.
const Tensor& usable_on_gpu(const Positions& positions) {
  const bool throws =
      positions.rule() == OutOfRange::kRaise || positions.rule() == OutOfRange::kFromBack;
  if (throws) {
    throw Error(ErrorCode::kNotImplemented, positions.tag(),
                "given a rule that fails for positions out of range, expected one that clips or "
                "wraps on a GPU");
  }
  return positions.indices();
}

}  // namespace

void gather_rows(const void* in, int64_t outer, int64_t extent, int64_t width,
                 const Positions& positions, void* out, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->gather_rows(context.stream()->native(), in, outer, extent, width,
                            usable_on_gpu(positions), positions.rule(), out);
  }
  if (outer == 1 && width == 4 && gather_at_once<uint32_t>(in, extent, positions, out)) return;
  if (outer == 1 && width == 8 && gather_at_once<uint64_t>(in, extent, positions, out)) return;
  const int64_t count = positions.count();
  const GatherBlock gather = gather_block(width);
  const auto run = [&](int64_t first_outer, int64_t last_outer, int64_t first, int64_t last) {
    for_blocks(positions, first, last, [&](int64_t start, const int64_t* at, int64_t n) {
      for (int64_t o = first_outer; o < last_outer; ++o) {
        gather(static_cast<const char*>(in) + o * extent * width,
               static_cast<char*>(out) + (o * count + start) * width, at, n, width);
      }
    });
  };
  const double cost = 1.0 + static_cast<double>(width) / 16;  // of a row
  if (outer > count) {
    parallel_for(
        outer, cost * static_cast<double>(count),
        [&](int64_t first, int64_t last) { run(first, last, 0, count); }, 1);
  } else {
    parallel_for(count, cost * static_cast<double>(outer),
                 [&](int64_t first, int64_t last) { run(0, outer, first, last); });
  }
}

void sum_rows(const Tensor& in, int64_t outer, int64_t extent, int64_t width,
              const Positions& positions, const Tensor& out, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->sum_rows(context.stream()->native(), in, outer, extent, width,
                         usable_on_gpu(positions), positions.rule(), out, context);
  }
  dispatch_dtype<kNumeric>(out.dtype, "gradient of an index", [&]<class T>(TypeTag<T>) {
    using Sum = ComputeType<T>;
    const int64_t total = out.size();
    Sum* sums = nullptr;
    if constexpr (std::is_same_v<Sum, T>) {
      sums = out.as<T>();
    } else {
      sums = context.workspace_of<Sum>(std::max<int64_t>(total, 1));
    }
    const int64_t count = positions.count(), block = extent * width;
    // Threads own ranges of the result: no two write one row, and the order of sums stays.
    const auto run = [&](int64_t first_outer, int64_t last_outer, int64_t low, int64_t high) {
      for (int64_t o = first_outer; o < last_outer; ++o) {
        Sum* const mine = sums + o * block;
        std::fill(mine + low * width, mine + high * width, Sum{0});
        add_rows(in.as<T>() + o * count * width, positions, low, high, width, mine);
      }
    };
    const double work = static_cast<double>(count + extent) * static_cast<double>(width);
    if (outer > 1) {
      parallel_for(
          outer, work, [&](int64_t first, int64_t last) { run(first, last, 0, extent); }, 1);
    } else {
      parallel_for(
          extent, work / static_cast<double>(std::max<int64_t>(extent, 1)),
          [&](int64_t first, int64_t last) { run(0, outer, first, last); }, 1);
    }
    if constexpr (!std::is_same_v<Sum, T>) convert_array(sums, out.as<T>(), total);
  });
}

}  // namespace mxnet
