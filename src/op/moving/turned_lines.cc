// SPDX-License-Identifier: Apache-2.0
// Decides which transpositions go by whole lines, and how these are written.
#include "op/moving/turned_lines.h"

#include <algorithm>
#include <cstdint>

#include "base/processor_facts.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "base/stream_copy.h"

namespace mxnet {
namespace {

constexpr auto kLine = static_cast<int64_t>(kLineBytes);

// Rows of the output that follow each other in the input; steps in bytes.
struct Box {
  const char* in;
  int64_t in_step;  // between columns
  char* out;
  int64_t out_step;  // between rows
  int64_t rows, columns;

  Box part(int64_t row, int64_t column, int64_t part_rows, int64_t part_columns,
           int64_t width) const {
    return {in + row * width + column * in_step,
            in_step,
            out + row * out_step + column * width,
            out_step,
            part_rows,
            part_columns};
  }
};

// In which order squares of a line by a line are turned: panels of so many rows and columns of
// squares follow each other along the rows of the input, the squares of one along the rows of the
// output (`by_rows`) or the other way. Lines `ahead` bytes behind a square's are asked for, 0:
// none.
struct SquareOrder {
  int64_t rows, columns, ahead;
  bool by_rows;
};

// What was best for elements of `width` bytes, out of rows of `row` bytes (docs/memory_kernels.md).
SquareOrder square_order(int64_t width, int64_t row, bool past_caches) {
  constexpr int64_t kShortRow = 512;  // what is asked for would be another row
  const ProcessorFacts& facts = processor_facts();
  if (facts.turns_along_result && row >= kShortRow) {
    if (past_caches && width == 1) return {1, 4, kLine, true};
    if (past_caches) return {4, 2, 2 * kLine, true};
    if (width >= 4) return {4, 4, 2 * kLine, true};
  }
  if (!past_caches) return {width <= 2 ? 2 : 1, width <= 2 ? 16 : 4, 0, false};
  if (facts.reads_what_it_writes && width < 8) return {INT64_MAX, 4, 0, false};
  return {width == 8 ? 4 : width == 1 ? 1 : 2, 4, 0, false};
}

#define MX_SIMD_FILE "op/moving/turned_lines.inc"
#include "base/simd_wide_targets.h"

bool begins_lines(const Box& box) {
  return reinterpret_cast<std::uintptr_t>(box.out) % kLineBytes == 0 && box.out_step % kLine == 0;
}

}  // namespace

bool turn_lines(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner,
                int64_t width, bool past_caches) {
  constexpr int64_t kNarrowBytes = 512;
  const Box box{in, inner.in, out, outer.out, outer.size, inner.size};
  const int64_t row = box.columns * width;
  if (width > 8 || row < kLine || box.rows * width < kLine) return false;
  if (past_caches && !begins_lines(box)) return false;
  // Short rows that follow each other need not be lines to be written in order.
  if (row <= kNarrowBytes && row % kLine != 0 && box.out_step == row) return false;
  const auto turn = MX_SIMD_WIDE_AT(simd_level(), turn_box_by_lines);
  return turn != nullptr && turn(box, width, past_caches);
}

}  // namespace mxnet
