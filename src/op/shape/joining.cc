// SPDX-License-Identifier: Apache-2.0
// Copies of parts, by blocks of rows that stay in cache.
#include "op/shape/joining.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/stream_copy.h"
#include "op/inline_vector.h"
#include "op/moving/long_copy.h"
#include "op/moving/row_copy.h"
#include "op/moving/strided_copy.h"
#include "op/moving/strided_kernels.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"
#include "op/run/sweep.h"

namespace mxnet {
namespace {

// Bytes of the whole that are worked on at a time: parts that are narrow columns of it take turns
// on lines that are still in the second-level cache. What is wide enough not to be slowed down by
// the calls stays in the first-level one.
constexpr int64_t kBlockBytes = 256 << 10, kCloseBytes = 16 << 10, kWideRow = 2048;
constexpr auto kLine = static_cast<int64_t>(kLineBytes);
// Rows that are moved without a plan: from what copy_rows takes to where a thread's part of one may
// be a string (copy_part).
constexpr int64_t kShortestRow = 16, kLongestRow = 512 << 10;

bool is_plain_row(int64_t width) { return width >= kShortestRow && width < kLongestRow; }

// `rows` of them, in steps of bytes.
void move_plain_rows(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t width,
                     int64_t rows) {
  // From here on the C library's copy is faster where the caches near the core are too small: it
  // may leave them to the processor as strings.
  constexpr int64_t kLong = 8192;
  if (width < kLong) return copy_rows(from, from_step, to, to_step, width, rows);
  for (; rows > 0; --rows, from += from_step, to += to_step)
    std::memcpy(to, from, static_cast<std::size_t>(width));
}

// A whole, and the parts that stand side by side in each of its rows.
struct Parted {
  const Tensor& whole;
  std::span<const Tensor> parts;
  PartsCopy direction;
  int64_t rows;

  bool joins() const { return direction == PartsCopy::kJoin; }
  int64_t row_bytes(const Tensor& tensor) const {
    return tensor.size() / rows * static_cast<int64_t>(dtype_size(tensor.dtype));
  }
  template <class Holds>
  bool each_part(const Holds& holds) const {
    return std::all_of(parts.begin(), parts.end(), holds);
  }
};

// Rows [first, last), without the plan for each part that takes as long as moving 4 KiB.
void copy_plain_rows(const Parted& p, int64_t first, int64_t last) {
  const int64_t step = p.row_bytes(p.whole);
  char* here = p.whole.as<char>() + first * step;
  for (const Tensor& part : p.parts) {
    const int64_t width = p.row_bytes(part);
    char* const there = part.as<char>() + first * width;
    if (p.joins()) {
      move_plain_rows(there, width, here, step, width, last - first);
    } else {
      move_plain_rows(here, step, there, width, width, last - first);
    }
    here += width;
  }
}

// The same for rows of any width. `streams`: past the caches.
void copy_by_plans(const Parted& p, int64_t first, int64_t last, bool streams,
                   KernelContext& context) {
  const int64_t row = p.whole.size() / p.rows;
  const std::size_t element = dtype_size(p.whole.dtype);
  int64_t at = 0;
  for (const Tensor& part : p.parts) {
    const int64_t length = part.size() / p.rows;
    StridedPlan plan;
    plan.in_offset = first * length;
    plan.out_offset = first * row + at;
    if (streams) plan.whole_bytes = p.rows * p.row_bytes(p.whole);
    plan.add(last - first, length, row);
    plan.add(length, 1, 1);
    if (p.joins()) {
      copy_strided(context, plan, part.data, p.whole.data, element);
    } else {
      copy_strided(context, plan.reversed(), p.whole.data, part.data, element);
    }
    at += length;
  }
}

// Parts that lie one behind the other in the whole.
void copy_in_line(const Parted& p) {
  InlineVector<LongPiece, 16> pieces;
  char* here = p.whole.as<char>();
  for (const Tensor& part : p.parts) {
    const int64_t bytes = p.row_bytes(part);
    char* const there = part.as<char>();
    pieces.push_back({p.joins() ? there : here, p.joins() ? here : there, bytes});
    here += bytes;
  }
  copy_pieces(pieces.span(), p.row_bytes(p.whole));
}

// The most parts of which each has a place of its own in the caches.
constexpr std::size_t kMostParts = 64;

// Whether rows of the parts have sizes as types do.
bool is_type_wide(int64_t width) {
  return width == 1 || width == 2 || width == 4 || width == 8 || width == 16;
}

int64_t widest_row(const Parted& p) {
  int64_t widest = 0;
  for (const Tensor& part : p.parts) widest = std::max(widest, p.row_bytes(part));
  return widest;
}

// Whether parts are pieces for permutes of whole vectors (base/narrow_join.h), and enough of them
// to pay for the table that each call makes.
bool are_permuted(const Parted& p) {
  constexpr int64_t kFewestBytes = 8 << 10;
  return p.parts.size() > 1 && p.rows * p.row_bytes(p.whole) >= kFewestBytes &&
         moves_narrow_rows(p.parts.size(), widest_row(p));
}

// Whether parts are columns that turning pays for: of elements, or, where they are joined, of as
// few of them as a larger type has bytes.
bool are_columns(const Parted& p) {
  constexpr std::size_t kFewestJoined = 2, kFewestSplit = 4;
  const std::size_t fewest = p.joins() ? kFewestJoined : kFewestSplit;
  const int64_t width = p.row_bytes(p.parts.front());
  const bool fits = p.joins() ? is_type_wide(width) && width < 16
                              : width == static_cast<int64_t>(dtype_size(p.whole.dtype));
  if (!fits || p.parts.size() < fewest || p.parts.size() > kMostParts ||
      !p.each_part([&](const Tensor& part) { return p.row_bytes(part) == width; }))
    return false;
  constexpr std::size_t kMostLoops = 3;  // so few columns are joined as fast by loops
  return (p.joins() && p.parts.size() <= kMostLoops) || !are_permuted(p);
}

// What a piece of a row takes where parts are moved one after the other, in tenths of a nanosecond
// (Zen 4): by a move of a size that is known, by two that overlap, or by a loop; and no less than
// reaching its part of the row's line.
int64_t cost_alone(int64_t width, int64_t row) {
  const int64_t own = is_type_wide(width) ? 3 : width < 16 ? 10 : width < 32 ? 8 : 20;
  return std::max(own, std::min(row, kLine) / 8);
}
// What it takes where all pieces of a row are moved before the next row's, as many bytes of each as
// join_rows and split_rows move of the widest.
int64_t cost_together(int64_t widest) { return widest <= 16 ? 7 : widest <= 32 ? 10 : 16; }

// Whether parts are other pieces of a few bytes, which are moved sooner row by row. Types that are
// not permuted are split one after the other anyway.
bool are_pieces(const Parted& p) {
  if (p.parts.size() > kMostParts) return false;
  const auto pieces = static_cast<int64_t>(p.parts.size());
  const int64_t row = p.row_bytes(p.whole);
  int64_t alone = 0;
  bool types = true;
  for (const Tensor& part : p.parts) {
    const int64_t width = p.row_bytes(part);
    if (width == 0 || width > kWidestPiece) return false;
    alone += cost_alone(width, row);
    types = types && is_type_wide(width);
  }
  if (are_permuted(p)) return true;
  if (types && !p.joins()) return false;
  // Of what is as large as the caches, parts and whole, each visit of a line would be waited for.
  const bool far = row >= kLine && row * p.rows >= kPastCaches / 2;
  return far || alone > pieces * cost_together(widest_row(p));
}

// Whether all of it is larger than the caches, and each part worth streaming.
bool is_past_caches(const Parted& p) {
  return p.rows * p.row_bytes(p.whole) >= kPastCaches && p.each_part([&](const Tensor& part) {
    const int64_t width = p.row_bytes(part);
    return worth_streaming(width, p.joins(), width);
  });
}

// Rows that are worked on at a time. Wide ones that need no plan are written one after the other.
int64_t rows_of_a_block(const Parted& p, bool plain) {
  const int64_t bytes = p.row_bytes(p.whole);
  const bool wide = bytes / static_cast<int64_t>(p.parts.size()) >= kWideRow;
  const int64_t close = !wide ? kBlockBytes : plain ? bytes : kCloseBytes;
  return std::max<int64_t>(1, close / bytes);
}

// Each part gives as many bytes to each row of the whole.
void join_columns(const Parted& p) {
  const int64_t bytes = p.row_bytes(p.whole);
  const auto element = static_cast<std::size_t>(p.row_bytes(p.parts.front()));
  InlineVector<const char*, 16> columns;
  for (const Tensor& part : p.parts) columns.push_back(part.as<char>());
  parallel_for(
      p.rows, static_cast<double>(p.parts.size()),
      [&](int64_t first, int64_t last) {
        interleave(columns.span(), first, p.whole.as<char>() + first * bytes, last - first,
                   element);
      },
      1024);
}

// The way back: blocks of rows are turned and then handed out.
void split_columns(const Parted& p) {
  const auto columns = static_cast<int64_t>(p.parts.size());
  const int64_t element = p.row_bytes(p.parts.front());
  const int64_t block = kCloseBytes / (columns * element);
  parallel_for(
      p.rows, static_cast<double>(columns),
      [&](int64_t first, int64_t last) {
        std::array<char, kCloseBytes> side_by_side;
        for (int64_t at = first; at < last; at += block) {
          const int64_t n = std::min(block, last - at);
          StridedPlan turn;
          turn.add(n, columns, 1);
          turn.add(columns, 1, n);
          copy_strided(turn, p.whole.as<char>() + at * columns * element, side_by_side.data(),
                       static_cast<std::size_t>(element));
          for (int64_t i = 0; i < columns; ++i) {
            std::memcpy(p.parts[static_cast<std::size_t>(i)].as<char>() + at * element,
                        side_by_side.data() + i * n * element,
                        static_cast<std::size_t>(n * element));
          }
        }
      },
      1024);
}

// Row by row: all parts of a row are met in the order in which they stand in it.
void move_pieces(const Parted& p) {
  const int64_t bytes = p.row_bytes(p.whole);
  parallel_for(p.rows, cost_of_moving(2.0 * static_cast<double>(bytes)),
               [&](int64_t first, int64_t last) {
                 InlineVector<PieceOfRows, 16> pieces;
                 for (const Tensor& part : p.parts) {
                   const int64_t width = p.row_bytes(part);
                   pieces.push_back({part.as<char>() + first * width, width});
                 }
                 char* const whole = p.whole.as<char>() + first * bytes;
                 p.joins() ? join_rows(pieces.span(), whole, last - first)
                           : split_rows(pieces.span(), whole, last - first);
               });
}

}  // namespace

void copy_parts(const Tensor& whole, int axis, std::span<const Tensor> parts, PartsCopy direction,
                KernelContext& context) {
  if (whole.size() == 0) return;
  const int64_t rows = whole.shape().size(0, axis);
  const Parted p{whole, parts, direction, rows};
  const bool on_gpu = gpu_table(context) != nullptr;
  if (!on_gpu && rows == 1) return copy_in_line(p);
  if (!on_gpu && are_columns(p)) return p.joins() ? join_columns(p) : split_columns(p);
  if (!on_gpu && are_pieces(p)) return move_pieces(p);
  const bool plain =
      p.each_part([&](const Tensor& part) { return is_plain_row(p.row_bytes(part)); });
  const int64_t block = rows_of_a_block(p, plain);
  const int64_t blocks = (rows + block - 1) / block;
  // Past the caches parts need not take turns, and the fewer they are at a time, the better is
  // memory used. Long rows: each part is split over threads. A GPU splits everything by itself.
  const bool past_caches = is_past_caches(p);
  if (blocks < 4 || past_caches || on_gpu) return copy_by_plans(p, 0, rows, past_caches, context);
  const int64_t elements = block * (whole.size() / rows);
  parallel_sweep(
      blocks, static_cast<double>(elements), 2 * block * p.row_bytes(whole),
      [&](int64_t first, int64_t last) {
        for (int64_t b = first; b < last; ++b) {
          const int64_t begin = b * block, end = std::min(rows, begin + block);
          plain ? copy_plain_rows(p, begin, end) : copy_by_plans(p, begin, end, false, context);
        }
      },
      1);
}

}  // namespace mxnet
