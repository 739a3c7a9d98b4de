// SPDX-License-Identifier: Apache-2.0
// Brings a plan to its simplest form (merged dimensions, runs of contiguous bytes as one block),
// picks a kernel for its two innermost loops and splits the work over threads.
#include "op/moving/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/owned_lines.h"
#include "base/processor_facts.h"
#include "base/stream_copy.h"
#include "op/moving/long_copy.h"
#include "op/moving/reverse_row.h"
#include "op/moving/strided_kernels.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "op/run/sweep.h"

namespace mxnet {
namespace {

// A plan in bytes: loops around the move of a block of `width` contiguous bytes.
struct Nest {
  std::array<StridedLoop, StridedPlan::kMaxDims + 2> loops;
  int n = 0;
  int64_t width;
  const char* in;
  char* out;
  const SmallBlock* block = nullptr;  // where the bytes of one are, unless they lie together

  StridedLoop& at(int i) { return loops[static_cast<std::size_t>(i)]; }
  const StridedLoop& at(int i) const { return loops[static_cast<std::size_t>(i)]; }
};

// The same loop from its other end.
void walk_backwards(Nest& nest, StridedLoop& loop) {
  nest.in += (loop.size - 1) * loop.in;
  nest.out += (loop.size - 1) * loop.out;
  loop.in = -loop.in;
  loop.out = -loop.out;
}

// Sorted by the step in the output, so that writing is as sequential as can be.
void insert_sorted(Nest& nest, const StridedLoop& loop) {
  int at = nest.n++;
  for (; at > 0 && nest.at(at - 1).out < loop.out; --at) nest.at(at) = nest.at(at - 1);
  nest.at(at) = loop;
}

void merge_neighbours(Nest& nest) {
  int kept = 0;
  for (int i = 1; i < nest.n; ++i) {
    const StridedLoop inner = nest.at(i);
    StridedLoop& outer = nest.at(kept);
    if (outer.in == inner.in * inner.size && outer.out == inner.out * inner.size) {
      outer = {outer.size * inner.size, inner.in, inner.out};
    } else {
      nest.at(++kept) = inner;
    }
  }
  if (nest.n > 0) nest.n = kept + 1;
}

// False where there is nothing to copy.
bool make_nest(const StridedPlan& plan, const void* in, void* out, int64_t element_bytes,
               Nest* nest) {
  for (const StridedPlan::Dim& dim : plan.dims())
    if (dim.size == 0) return false;  // and there may be no memory to point into
  nest->width = element_bytes;
  nest->in = static_cast<const char*>(in) + plan.in_offset * element_bytes;
  nest->out = static_cast<char*>(out) + plan.out_offset * element_bytes;
  for (const StridedPlan::Dim& dim : plan.dims()) {
    if (dim.size == 1) continue;
    StridedLoop loop{dim.size, dim.in_step * element_bytes, dim.out_step * element_bytes};
    if (loop.out < 0) walk_backwards(*nest, loop);
    insert_sorted(*nest, loop);
  }
  merge_neighbours(*nest);
  if (nest->n > 0) {
    const StridedLoop& last = nest->at(nest->n - 1);
    if (last.in == nest->width && last.out == nest->width) {
      nest->width *= last.size;
      --nest->n;
    }
  }
  return true;
}

// Whether the innermost loop is a short row of a part of each pair: the kernel of rows does many of
// them a call, for two parts one after the other, where tiles would be called for each row of both.
bool parts_short_pairs(const Nest& nest) {
  constexpr int64_t kShort = 1024;
  const StridedLoop& row = nest.at(nest.n - 1);
  const int64_t bytes = row.size * nest.width;
  return nest.n > 2 && row.in == 2 * nest.width && bytes >= kLeastReversed && bytes < kShort;
}

// Where the input is contiguous, forwards or backwards, along another loop than the output: that
// loop goes last but one, and the two are copied in tiles.
bool bring_tile_inside(Nest& nest) {
  const StridedLoop& last = nest.at(nest.n - 1);
  if (last.out != nest.width || last.in == 0 || !is_tile_width(nest.width)) return false;
  for (int i = 0; i < nest.n - 1; ++i) {
    if (std::abs(nest.at(i).in) != nest.width) continue;
    if (nest.at(i).size == 2 && parts_short_pairs(nest)) return false;
    if (nest.at(i).in < 0) walk_backwards(nest, nest.at(i));
    std::rotate(nest.loops.begin() + i, nest.loops.begin() + i + 1,
                nest.loops.begin() + nest.n - 1);
    return true;
  }
  return false;
}

// Makes one block of the innermost loops that write a few elements side by side, whose places are
// listed: calls of a kernel for each few of them would take longer than to move them. Not where
// neighbours of the input are outside, which tiles read together.
bool list_small_block(Nest& nest, SmallBlock* block) {
  const bool is_element = is_tile_width(nest.width) && nest.width <= 8;
  if (nest.n < 2 || !is_element || nest.at(nest.n - 1).out != nest.width) return false;
  int inner = nest.n;
  int64_t count = 1;
  for (; inner > 1; --inner) {
    const StridedLoop& loop = nest.at(inner - 1);
    if (loop.out != count * nest.width || loop.size > SmallBlock::kMost / count) break;
    count *= loop.size;
  }
  if (inner == nest.n) return false;
  if (inner == nest.n - 1) {  // a row, for which there may be vectors
    constexpr int64_t kFewInRow = 12;
    const int64_t step = nest.at(inner).in;
    const bool alternates = step == 2 * nest.width && count * nest.width >= kLeastReversed;
    if (count >= kFewInRow || step == 0 || step == -nest.width || alternates) return false;
  }
  for (int i = 0; i < inner; ++i)
    if (std::abs(nest.at(i).in) == nest.width) return false;
  block->append(0);
  for (int i = nest.n - 1; i >= inner; --i) {
    const int64_t known = block->count();
    for (int64_t step = 1; step < nest.at(i).size; ++step)
      for (int64_t k = 0; k < known; ++k) block->append(block->place(k) + step * nest.at(i).in);
  }
  block->element = nest.width;
  nest.n = inner;
  nest.width *= count;
  nest.block = block;
  return true;
}

// Whether tiles write less than a line at a time, and the loop around them goes on with it.
bool writes_pieces(const Nest& nest, bool tiled) {
  if (!tiled || nest.n < 3) return false;
  const int64_t piece = nest.at(nest.n - 1).size * nest.width;
  return piece < static_cast<int64_t>(kLineBytes) && nest.at(nest.n - 3).out == piece;
}

// Where tiles read pieces of a few lines, the loop that goes on with them in the input comes around
// the tiles, unless that leaves lines of the result half written.
void read_on_around_tiles(Nest& nest, bool tiled) {
  constexpr auto kLine = static_cast<int64_t>(kLineBytes);
  if (!tiled || nest.n < 4) return;
  const int64_t read = nest.at(nest.n - 2).size * nest.width;
  const int64_t written = nest.at(nest.n - 1).size * nest.width;
  if (read < kLine || read >= 4 * kLine || written < 2 * kLine) return;
  for (int i = 0; i < nest.n - 3; ++i) {
    if (nest.at(i).in != read) continue;
    std::rotate(nest.loops.begin() + i, nest.loops.begin() + i + 1,
                nest.loops.begin() + nest.n - 2);
    return;
  }
}

// Of different places.
int64_t bytes_read(const Nest& nest) {
  int64_t bytes = nest.width;
  for (int i = 0; i < nest.n; ++i) bytes *= nest.at(i).in == 0 ? 1 : nest.at(i).size;
  return bytes;
}

int64_t bytes_written(const Nest& nest) {
  int64_t bytes = nest.width;
  for (int i = 0; i < nest.n; ++i) bytes *= nest.at(i).size;
  return bytes;
}

// Rows, by blocks of them.
void run_rows(const Nest& nest, StridedKernel kernel, const Sweep& sweep, bool past_caches) {
  const StridedLoop &outer = nest.at(0), &inner = nest.at(1);
  // (Rows with steps between elements take a tenth longer backwards.)
  const bool whole = nest.width > 16 || std::abs(inner.in) == nest.width;
  const int64_t together =
      whole && sweep.back() ? Sweep::kBlockBytes / (inner.size * nest.width) + 1 : outer.size;
  sweep.blocks(outer.size, together, [&](int64_t first, int64_t n) {
    kernel(nest.in + first * outer.in, nest.out + first * outer.out, {n, outer.in, outer.out},
           inner, nest.width, past_caches);
  });
  if (past_caches) finish_stream_copies();
}

// All loops but the last two, which `kernel` does, or the last three where tiles write `pieces`.
void run_loops(const Nest& nest, StridedKernel kernel, int outer, bool pieces, bool past_caches) {
  std::array<int64_t, StridedPlan::kMaxDims + 2> index{};
  const char* in = nest.in;
  char* out = nest.out;
  while (true) {
    if (nest.block != nullptr) {
      move_small_blocks(in, out, nest.at(outer), nest.at(outer + 1), *nest.block);
    } else if (pieces) {
      join_pieces(in, out, nest.at(outer), nest.at(outer + 1), nest.at(outer + 2), nest.width);
    } else {
      kernel(in, out, nest.at(outer), nest.at(outer + 1), nest.width, past_caches);
    }
    int i = outer - 1;
    for (; i >= 0; --i) {
      const StridedLoop& loop = nest.at(i);
      in += loop.in;
      out += loop.out;
      if (++index[static_cast<std::size_t>(i)] < loop.size) break;
      index[static_cast<std::size_t>(i)] = 0;
      in -= loop.in * loop.size;
      out -= loop.out * loop.size;
    }
    if (i < 0) break;
  }
  if (past_caches) finish_stream_copies();
}

// Whether small planes, which follow each other without gaps and have none, are made of the same
// numbers again and again: the first one is copied.
bool repeats_planes(const Nest& nest) {
  constexpr int64_t kMostBytes = 16 << 10;
  const StridedLoop& planes = nest.at(0);
  if (nest.n <= 2 || planes.in != 0 || planes.out > kMostBytes) return false;
  int64_t reach = nest.width;
  for (int i = 1; i < nest.n; ++i) reach += (nest.at(i).size - 1) * nest.at(i).out;
  return reach == planes.out && planes.out * planes.size == bytes_written(nest);
}

void run_first_plane(const Nest& nest, StridedKernel kernel, int outer, bool pieces) {
  constexpr int64_t kNear = int64_t{1} << 13;  // which the first-level cache keeps
  const int64_t plane = nest.at(0).out, all = plane * nest.at(0).size;
  Nest first = nest;
  first.at(0).size = 1;
  run_loops(first, kernel, outer, pieces, false);
  for (int64_t done = plane, n; done < all; done += n) {
    n = std::min({done, std::max(kNear / plane, int64_t{1}) * plane, all - done});
    std::memcpy(nest.out + done, nest.out, static_cast<std::size_t>(n));
  }
}

// `alone`: no part of a larger whole.
void run_serial(const Nest& nest, StridedKernel kernel, bool tiled, bool past_caches, bool alone) {
  const Sweep sweep(alone ? bytes_read(nest) + bytes_written(nest) : 0);
  if (nest.n == 2 && !tiled && nest.block == nullptr)
    return run_rows(nest, kernel, sweep, past_caches);
  const bool pieces = writes_pieces(nest, tiled);
  const int outer = nest.n - (pieces ? 3 : 2);
  if (!past_caches && repeats_planes(nest)) return run_first_plane(nest, kernel, outer, pieces);
  if (outer == 0 || !sweep.back()) return run_loops(nest, kernel, outer, pieces, past_caches);
  Nest turned = nest;  // large: small copies would take a tenth longer by it
  walk_backwards(turned, turned.at(0));
  run_loops(turned, kernel, outer, pieces, past_caches);
}

constexpr int64_t kTileSide = 64;  // of the largest tile

// The loop to split over threads: the outermost of which the largest part is at most a sixteenth
// more than a fair one, else the longest. `tiled`: the last but one goes along lines of the input,
// of which each thread has whole ones.
int loop_to_split(const Nest& nest, int threads, bool tiled) {
  constexpr auto kLine = static_cast<int64_t>(kLineBytes);
  int longest = 0;
  for (int i = 0; i < nest.n; ++i) {
    const int64_t size = nest.at(i).size, largest = (size + threads - 1) / threads;
    const bool in_line = tiled && i == nest.n - 2 && largest * nest.width < kLine;
    if (in_line && nest.at(i + 1).size >= 2 * kTileSide * threads) continue;
    if (16 * threads * largest <= 17 * size) return i;
    if (size > nest.at(longest).size) longest = i;
  }
  return longest;
}

// Elements of which a plan of two dimensions is done before a better order has been found.
constexpr int64_t kFew = 256;

template <class T>
void copy_few(const StridedPlan::Dim& outer, const StridedPlan::Dim& inner, const void* in,
              void* out) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  for (int64_t i = 0; i < outer.size; ++i, from += outer.in_step, to += outer.out_step)
    for (int64_t j = 0; j < inner.size; ++j) to[j * inner.out_step] = from[j * inner.in_step];
}

// Two loops over a few elements of four or eight bytes, as they come: what small matrices are
// transposed and sliced with. False: it is something else.
bool copied_few(const StridedPlan& plan, const void* in, void* out, std::size_t element_bytes) {
  const std::span<const StridedPlan::Dim> dims = plan.dims();
  if (dims.size() != 2 || dims[0].size > kFew || dims[1].size > kFew ||
      dims[0].size * dims[1].size > kFew || (element_bytes != 4 && element_bytes != 8))
    return false;
  const auto bytes = static_cast<int64_t>(element_bytes);
  const void* from = static_cast<const char*>(in) + plan.in_offset * bytes;
  void* to = static_cast<char*>(out) + plan.out_offset * bytes;
  bytes == 4 ? copy_few<uint32_t>(dims[0], dims[1], from, to)
             : copy_few<uint64_t>(dims[0], dims[1], from, to);
  return true;
}

}  // namespace

void StridedPlan::add(int64_t size, int64_t in_step, int64_t out_step) {
  MX_ASSERT(ndim_ < kMaxDims);
  dims_[static_cast<std::size_t>(ndim_++)] = {size, in_step, out_step};
}

StridedPlan StridedPlan::reversed() const {
  StridedPlan back;
  back.in_offset = out_offset;
  back.out_offset = in_offset;
  back.whole_bytes = whole_bytes;
  for (const Dim& dim : dims()) back.add(dim.size, dim.out_step, dim.in_step);
  return back;
}

RowMajorSteps::RowMajorSteps(const Shape& shape) {
  int64_t step = 1;
  for (int i = shape.ndim() - 1; i >= 0; --i) {
    steps_[static_cast<std::size_t>(i)] = step;
    step *= shape[i];
  }
}

void copy_strided(const StridedPlan& plan, const void* in, void* out, std::size_t element_bytes) {
  if (copied_few(plan, in, out, element_bytes)) return;
  Nest nest;
  if (!make_nest(plan, in, out, static_cast<int64_t>(element_bytes), &nest)) return;
  if (nest.n == 0) {
    const LongPiece all{nest.in, nest.out, nest.width};
    return copy_pieces({&all, 1}, std::max(nest.width, plan.whole_bytes));
  }
  SmallBlock block;
  const bool listed = !repeats_planes(nest) && list_small_block(nest, &block);
  const bool tiled = !listed && nest.n >= 2 && bring_tile_inside(nest);
  read_on_around_tiles(nest, tiled);
  const StridedKernel kernel = tiled ? tile_kernel(nest.width) : rows_kernel(nest.width);
  if (nest.n == 1) {
    nest.at(1) = nest.at(0);
    nest.at(0) = {1, 0, 0};
    nest.n = 2;
  }
  int64_t blocks = 1;
  for (int i = 0; i < nest.n; ++i) blocks *= nest.at(i).size;
  // Small blocks cost by their number, but for those that repeat, large ones by their bytes.
  const auto different = static_cast<double>(bytes_read(nest));
  const auto all = static_cast<double>(blocks * nest.width);
  const double cost = std::max(4.0 * different / all,
                               cost_of_moving((different + all) / static_cast<double>(blocks)));
  // Bytes read and written together from which on caches are too small. Tiles are slow in them.
  // Rows that are read again and again leave room for what is written, and that stays there faster.
  const int64_t written = std::max(blocks * nest.width, plan.whole_bytes);
  const int64_t read = std::max(bytes_read(nest), plan.whole_bytes);
  const int threads = threads_for(blocks, cost);
  const bool far = threads == 1 && processor_facts().repeats_past_caches;
  const int64_t most = tiled            ? kPastCaches
                       : read < written ? (far ? kPastCaches : 2 * kPastCaches)
                                        : bytes_past_caches(threads);
  const bool past_caches = tiled || !owns_lines(written) ? read + written >= most : true;
  const bool alone = plan.whole_bytes == 0;
  if (threads == 1) return run_serial(nest, kernel, tiled, past_caches, alone);
  const int split = loop_to_split(nest, threads, tiled);
  const int64_t blocks_each = blocks / nest.at(split).size;
  // Whole tiles, where there are enough for all threads.
  const bool in_kernel = split + 2 >= nest.n;
  const int64_t align = in_kernel && nest.at(split).size >= 4 * kTileSide * threads ? kTileSide : 1;
  parallel_for(
      nest.at(split).size, cost * static_cast<double>(blocks_each),
      [&](int64_t first, int64_t last) {
        Nest part = nest;
        part.at(split).size = last - first;
        part.in += first * part.at(split).in;
        part.out += first * part.at(split).out;
        run_serial(part, kernel, tiled, past_caches, alone);
      },
      align);
}

}  // namespace mxnet
