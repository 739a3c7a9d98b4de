// SPDX-License-Identifier: Apache-2.0
// Loops over rows: positions are read a block at a time, rows are copied by their width.
#include "op/moving/rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/owned_lines.h"
#include "base/stable_order.h"
#include "base/stream_copy.h"
#include "op/loops/convert.h"
#include "op/moving/position_loops.h"
#include "op/moving/row_copy.h"
#include "op/moving/short_block.h"
#include "op/moving/strided_kernels.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

using GatherBlock = RowGatherer::Block;

// A width that is known makes the copy one load and one store. (Not unrolled, rows of 16 bytes take
// a fifth longer.)
template <std::size_t kWidth>
void gather_fixed(const char* in, char* out, const int64_t* positions, int64_t n, int64_t) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(out + i * static_cast<int64_t>(kWidth),
                in + positions[i] * static_cast<int64_t>(kWidth), kWidth);
  }
}

// The same of rows of up to twice as many bytes.
template <int64_t kHalf>
void gather_halves(const char* in, char* out, const int64_t* positions, int64_t n, int64_t width) {
  for (int64_t i = 0; i < n; ++i)
    move_halves<kHalf>(in + positions[i] * width, out + i * width, width);
}

// Rows of one element of 4 or 8 bytes.
template <class T>
void gather_element(const char* in, char* out, const int64_t* positions, int64_t n, int64_t) {
  gather_elements(reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out), positions, n);
}

// Rows that are asked for ahead, which hides the latency of those that are not in a cache; of
// longer ones the processor fetches the rest by itself.
template <class Copy>
void gather_asked(const char* in, char* out, const int64_t* positions, int64_t n, int64_t width,
                  const Copy& copy) {
  constexpr int64_t kAhead = 4, kAsked = 512;
  const int64_t asked = std::min(width, kAsked);
  for (int64_t i = 0; i < n; ++i) {
    if (i + kAhead < n) {
      const char* const next = in + positions[i + kAhead] * width;
      for (int64_t at = 0; at < asked; at += 64) __builtin_prefetch(next + at);
    }
    copy(out + i * width, in + positions[i] * width, static_cast<std::size_t>(width));
  }
}
void gather_any(const char* in, char* out, const int64_t* positions, int64_t n, int64_t width) {
  gather_asked(in, out, positions, n, width,
               [](char* to, const char* from, std::size_t bytes) { std::memcpy(to, from, bytes); });
}
void gather_past_caches(const char* in, char* out, const int64_t* positions, int64_t n,
                        int64_t width) {
  gather_asked(in, out, positions, n, width, stream_copy);
  finish_stream_copies();
}
// Whether to do so, where of a table of so many bytes as many are read as are written, or all of it
// again and again. (Of as much as the caches would just hold, out of them it takes a tenth longer,
// out of memory half.)
bool is_past_caches(int64_t width, int64_t table, int64_t written, const void* out, int threads) {
  const auto places = static_cast<int64_t>(reinterpret_cast<std::uintptr_t>(out)) | width;
  return worth_streaming(width, true, places) && written >= kPastCaches / 2 &&
         std::min(table, written) + written >= bytes_past_caches(threads) * 2 / 3 &&
         !owns_lines(written);
}

// Rows of several smaller elements may lie anywhere. REQUIRES: width is a power of two.
bool are_elements(const void* in, const void* out, int64_t width) {
  const auto places = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out);
  return (places & static_cast<std::uintptr_t>(width - 1)) == 0;
}

// Elements at clipped positions of the usual types are picked without a copy of the positions.
// Whether these are such.
template <class T>
bool gather_at_once(const void* in, int64_t extent, const Positions& positions, void* out) {
  const auto run = [&]<class Index>(const Index* at) {
    constexpr double kCost = 6.0;  // lines that are not in the first-level cache
    parallel_for(positions.count(), kCost, [&](int64_t first, int64_t last) {
      gather_clipped(static_cast<const T*>(in), static_cast<T*>(out) + first, at + first,
                     last - first, extent);
    });
  };
  if (positions.rule() != OutOfRange::kClip || !are_elements(in, out, sizeof(T))) return false;
  if (positions.indices().dtype == DType::kInt64) {
    run(static_cast<const int64_t*>(positions.indices().data));
  } else if (positions.indices().dtype == DType::kInt32) {
    run(static_cast<const int32_t*>(positions.indices().data));
  } else {
    return false;
  }
  return true;
}

GatherBlock gather_block(const void* in, const void* out, int64_t width) {
  switch (width) {
    case 1:
      return gather_fixed<1>;
    case 2:
      return gather_fixed<2>;
    case 4:
      return are_elements(in, out, width) ? gather_element<uint32_t> : gather_fixed<4>;
    case 8:
      return are_elements(in, out, width) ? gather_element<uint64_t> : gather_fixed<8>;
    case 16:
      return gather_fixed<16>;
    default:
      // Lines that are whole need no others; what is spread over more is better asked for.
      if (const GatherBlock gather = width % 64 == 0 ? rows_gatherer(width) : nullptr)
        return gather;
      if (width > kShortBlock) return gather_any;
      return with_half(width, [](auto half) -> GatherBlock { return gather_halves<half>; });
  }
}

// The way back: row positions[i] of `out` becomes row i of `in`.
using PutBlock = GatherBlock;

template <int64_t kHalf>
void put_halves(const char* in, char* out, const int64_t* positions, int64_t n, int64_t width) {
  for (int64_t i = 0; i < n; ++i)
    move_halves<kHalf>(in + i * width, out + positions[i] * width, width);
}
void put_any(const char* in, char* out, const int64_t* positions, int64_t n, int64_t width) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(out + positions[i] * width, in + i * width, static_cast<std::size_t>(width));
}
// Zeros instead.
void clear_block(const char*, char* out, const int64_t* positions, int64_t n, int64_t width) {
  for (int64_t i = 0; i < n; ++i)
    std::memset(out + positions[i] * width, 0, static_cast<std::size_t>(width));
}

PutBlock put_block(int64_t width) {
  if (width > kShortBlock) return put_any;
  return with_half(width, [](auto half) -> PutBlock { return put_halves<half>; });
}

// Of `outer` blocks of rows, `in_step` bytes apart, the same positions. Neighbours that are taken
// together are one wider row, which a copy is worth from so many bytes on.
constexpr int64_t kRun = 32;
bool gather_runs(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t outer,
                 const int64_t* positions, int64_t n, int64_t width) {
  if (outer < 2) return false;
  int64_t runs = 1;
  for (int64_t i = 1; i < n; ++i) runs += positions[i] != positions[i - 1] + 1;
  if (runs > n / 2 || runs * kRun > n * width) return false;
  for (int64_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && positions[end] == positions[end - 1] + 1;) ++end;
    const int64_t bytes = (end - i) * width;
    const char* from = in + positions[i] * width;
    char* to = out + i * width;
    if (bytes >= 16) {
      copy_rows(from, in_step, to, out_step, bytes, outer);
      continue;
    }
    for (int64_t o = 0; o < outer; ++o)
      std::memcpy(to + o * out_step, from + o * in_step, static_cast<std::size_t>(bytes));
  }
  return true;
}

// Of `outer` blocks of `extent` rows the same few positions, whose rows lie together in the result:
// those of several blocks are one list, as long as one call is worth. REQUIRES: 2 * n <= kBlock.
void gather_few(GatherBlock gather, const char* in, int64_t extent, char* out, int64_t outer,
                const int64_t* positions, int64_t n, int64_t width) {
  std::array<int64_t, Positions::kBlock> several;
  const int64_t together = std::min(Positions::kBlock / n, outer);
  for (int64_t o = 0; o < together; ++o)
    for (int64_t i = 0; i < n; ++i)
      several[static_cast<std::size_t>(o * n + i)] = o * extent + positions[i];
  for (int64_t o = 0; o < outer; o += together) {
    const int64_t blocks = std::min(together, outer - o);
    gather(in + o * extent * width, out + o * n * width, several.data(), blocks * n, width);
  }
}

// Adds a row of half type.
template <class T, class Sum>
void add_converted(const T* row, int64_t width, Sum* sum) {
  constexpr int64_t kBlock = 256;
  std::array<Sum, kBlock> block;
  for (int64_t first = 0; first < width; first += kBlock) {
    const int64_t n = std::min(kBlock, width - first);
    convert_array(row + first, block.data(), n);
    for (int64_t k = 0; k < n; ++k) sum[first + k] += block[static_cast<std::size_t>(k)];
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
      if constexpr (kIsHalf<T>) {
        constexpr int64_t kWorthACall = 8;
        if (width >= kWorthACall) {
          add_converted(row, width, sum);
          continue;
        }
      }
      for (int64_t k = 0; k < width; ++k) sum[k] += convert<Sum>(row[k]);
    }
  });
}

// Positions as int64 on the host, which reads them there where they are on a GPU.
void read_all(KernelContext& context, const Positions& positions, int64_t* to) {
  const HostCopy copy(context, positions.indices());
  positions.of(copy.tensor()).read(0, positions.count(), to);
}

// Positions for a kernel of a GPU, which cannot throw: those of a rule that does are checked here.
struct CheckedPositions {
  CheckedPositions(KernelContext& context, const Positions& positions)
      : tensor(positions.indices()), rule(positions.rule()), count{positions.count()} {
    if (rule == OutOfRange::kClip || rule == OutOfRange::kWrap) return;
    const HostNumbers checked(context, count[0]);
    read_all(context, positions, checked.data());
    // Read only.
    tensor = {const_cast<int64_t*>(checked.on_device(context, count[0])), &count, DType::kInt64};
    rule = OutOfRange::kClip;
  }
  CheckedPositions(const CheckedPositions&) = delete;
  CheckedPositions& operator=(const CheckedPositions&) = delete;
  Tensor tensor;
  OutOfRange rule;
  const Shape count;
};

// Threads of a GPU write in any order: of the rows for one place only the last is left.
void put_rows_on_gpu(const GpuTable& gpu, const void* in, int64_t width, const Positions& positions,
                     void* out, KernelContext& context) {
  const int64_t count = positions.count();
  std::vector<int64_t> targets(static_cast<std::size_t>(count));
  read_all(context, positions, targets.data());
  const std::vector<std::size_t> order = places_by_ascending(targets);
  const HostNumbers pairs(context, 2 * count);
  int64_t kept = 0;
  const auto last_of_its_place = [&](std::size_t i) {
    return i + 1 == order.size() || targets[order[i]] != targets[order[i + 1]];
  };
  for (std::size_t i = 0; i < order.size(); ++i)
    if (last_of_its_place(i)) pairs.data()[kept++] = static_cast<int64_t>(order[i]);
  for (int64_t i = 0; i < kept; ++i)
    pairs.data()[kept + i] = targets[static_cast<std::size_t>(pairs[i])];
  const int64_t* const there = pairs.on_device(context, 2 * kept);
  gpu.put_rows(context.stream()->native(), in, width, there, there + kept, kept, out);
}

}  // namespace

RowGatherer::RowGatherer(const void* in, int64_t outer, int64_t extent, int64_t width, void* out,
                         int64_t count)
    : in_(static_cast<const char*>(in)),
      out_(static_cast<char*>(out)),
      extent_(extent),
      width_(width),
      count_(count),
      gather_(is_past_caches(width, outer * extent * width, outer * count * width, out,
                             threads_for(outer * count, cost()))
                  ? gather_past_caches
                  : gather_block(in, out, width)) {}

double RowGatherer::cost() const { return 4.0 + cost_of_moving(2.0 * static_cast<double>(width_)); }

void RowGatherer::gather(int64_t first_outer, int64_t last_outer, int64_t start, const int64_t* at,
                         int64_t n) const {
  const int64_t in_step = extent_ * width_, out_step = count_ * width_;
  const char* from = in_ + first_outer * in_step;
  char* to = out_ + first_outer * out_step + start * width_;
  const int64_t blocks = last_outer - first_outer;
  if (gather_runs(from, in_step, to, out_step, blocks, at, n, width_)) return;
  if (n == count_ && blocks > 1 && 2 * n <= Positions::kBlock)
    return gather_few(gather_, from, extent_, to, blocks, at, n, width_);
  for (int64_t o = 0; o < blocks; ++o, from += in_step, to += out_step)
    gather_(from, to, at, n, width_);
}

void gather_rows(const void* in, int64_t outer, int64_t extent, int64_t width,
                 const Positions& positions, void* out, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context)) {
    const CheckedPositions checked(context, positions);
    return gpu->gather_rows(context.stream()->native(), in, outer, extent, width, checked.tensor,
                            checked.rule, out);
  }
  if (outer == 1 && width == 4 && gather_at_once<uint32_t>(in, extent, positions, out)) return;
  if (outer == 1 && width == 8 && gather_at_once<uint64_t>(in, extent, positions, out)) return;
  const int64_t count = positions.count();
  const RowGatherer gatherer(in, outer, extent, width, out, count);
  const double cost = gatherer.cost();
  const auto run = [&](int64_t first_outer, int64_t last_outer, int64_t first, int64_t last) {
    for_blocks(positions, first, last, [&](int64_t start, const int64_t* at, int64_t n) {
      gatherer.gather(first_outer, last_outer, start, at, n);
    });
  };
  if (outer > count) {
    parallel_for(
        outer, cost * static_cast<double>(count),
        [&](int64_t first, int64_t last) { run(first, last, 0, count); }, 1);
  } else {
    // Narrow rows by cache lines; of wide ones there may be few.
    parallel_for(
        count, cost * static_cast<double>(outer),
        [&](int64_t first, int64_t last) { run(0, outer, first, last); },
        std::clamp<int64_t>(64 / width, 1, 16));
  }
}

void put_rows(const void* in, int64_t width, const Positions& positions, void* out,
              KernelContext& context) {
  if (width == 0) return;
  if (const GpuTable* gpu = gpu_table(context))
    return put_rows_on_gpu(*gpu, in, width, positions, out, context);
  const PutBlock put = in == nullptr ? clear_block : put_block(width);
  for_blocks(positions, 0, positions.count(), [&](int64_t start, const int64_t* at, int64_t n) {
    put(static_cast<const char*>(in) + start * width, static_cast<char*>(out), at, n, width);
  });
}

void sum_rows(const Tensor& in, int64_t outer, int64_t extent, int64_t width,
              const Positions& positions, const Tensor& out, KernelContext& context, bool add) {
  if (const GpuTable* gpu = gpu_table(context)) {
    const CheckedPositions checked(context, positions);
    return gpu->sum_rows(context.stream()->native(), in, outer, extent, width, checked.tensor,
                         checked.rule, out, context);
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
        if (!add) {
          std::fill(mine + low * width, mine + high * width, Sum{0});
        } else if constexpr (!std::is_same_v<Sum, T>) {
          convert_array(out.as<T>() + o * block + low * width, mine + low * width,
                        (high - low) * width);
        }
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
