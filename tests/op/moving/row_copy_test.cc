// SPDX-License-Identifier: Apache-2.0
// Rows moved apart: all rows and all that goes between them, and nothing before and behind.
#include "op/moving/row_copy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

namespace mxnet {
namespace {

TEST(SpaceRows, WritesRowsAndGapsAndNothingElse) {
  constexpr int64_t kRows = 3, kGuard = 64;
  std::array<char, kGapPattern> pattern{};
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<char>(i % 8 + 1);
  for (const int64_t width : {16, 17, 31, 32, 33, 63, 64, 112, 129, 300}) {
    std::vector<char> in(static_cast<std::size_t>(kRows * width));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7 + 11);
    for (const int64_t gap : {0, 1, 8, 15, 16, 31, 32, 33, 70}) {
      const auto total = static_cast<std::size_t>(kRows * (width + gap) - gap + 2 * kGuard);
      std::vector<char> out(total, 'x'), expected = out;
      char* to = expected.data() + kGuard;
      for (int64_t row = 0; row < kRows; ++row) {
        std::memcpy(to, in.data() + row * width, static_cast<std::size_t>(width));
        to += width;
        for (int64_t i = 0; i < gap && row + 1 < kRows; ++i)
          *to++ = pattern[static_cast<std::size_t>(i % kGapPattern)];
      }
      space_rows(in.data(), out.data() + kGuard, width, kRows, pattern.data(), gap);
      EXPECT_EQ(out, expected) << width << " bytes, " << gap << " between";
    }
  }
}

// With steps that leave gaps, out of memory that ends with the last row.
TEST(RepeatRows, WritesEachRowAsOftenAsAskedAndNothingElse) {
  constexpr int64_t kRows = 3, kGuard = 80;
  for (int64_t width = 16; width <= 300; ++width) {
    for (const int64_t count : {1, 2, 5}) {
      const int64_t in_step = width + 3, out_step = count * width + 7;
      std::vector<char> in(static_cast<std::size_t>((kRows - 1) * in_step + width));
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7 + i / 251);
      std::vector<char> out(static_cast<std::size_t>(2 * kGuard + kRows * out_step), 'x'),
          expected = out;
      for (int64_t row = 0; row < kRows; ++row) {
        for (int64_t i = 0; i < count; ++i) {
          std::memcpy(expected.data() + kGuard + row * out_step + i * width,
                      in.data() + row * in_step, static_cast<std::size_t>(width));
        }
      }
      const std::vector<char> untouched = out;
      const bool done =
          repeat_rows(in.data(), in_step, out.data() + kGuard, out_step, width, count, kRows);
      EXPECT_EQ(out, done ? expected : untouched) << width << " bytes, " << count << " times";
      if (width <= 64) {
        EXPECT_TRUE(done) << width;
      }
    }
  }
}

TEST(PackPieces, PutsThePiecesOfAllBlocksTogetherAndWritesNothingElse) {
  constexpr int64_t kGuard = 64;
  for (const int64_t width : {1, 2, 3, 8, 12, 15, 16, 24, 31, 40}) {
    for (const int64_t parts : {1, 2, 3, 7}) {
      for (const int64_t blocks : {1, 2, 5, 40}) {
        std::vector<char> in(static_cast<std::size_t>(blocks * parts * width));
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7 + 11);
        std::vector<char> out(in.size() + 2 * kGuard, 'x'), expected = out;
        char* to = expected.data() + kGuard;
        for (int64_t part = 0; part < parts; ++part) {
          for (int64_t block = 0; block < blocks; ++block, to += width)
            std::memcpy(to, in.data() + (block * parts + part) * width,
                        static_cast<std::size_t>(width));
        }
        pack_pieces(in.data(), parts * width, out.data() + kGuard, width, blocks, parts);
        EXPECT_EQ(out, expected) << blocks << " blocks of " << parts << " times " << width;
      }
    }
  }
}

// Rows of pieces, whole and taken apart, each in memory of its own with guards around it.
void check_pieces(const std::vector<int64_t>& widths, int64_t rows) {
  constexpr int64_t kGuard = 64;
  const auto with_guards = [](int64_t bytes) {
    return std::vector<char>(static_cast<std::size_t>(bytes + 2 * kGuard), 'x');
  };
  const int64_t row = std::accumulate(widths.begin(), widths.end(), int64_t{0});
  std::vector<char> whole = with_guards(rows * row), joined = whole;
  std::vector<std::vector<char>> parts, split;
  std::vector<PieceOfRows> pieces, targets;
  int64_t at = 0;
  for (const int64_t width : widths) {
    std::vector<char> part = with_guards(rows * width);
    split.push_back(part);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < width; ++i) {
        const char value = static_cast<char>(r * 31 + at * 7 + i * 3);
        part[static_cast<std::size_t>(kGuard + r * width + i)] = value;
        whole[static_cast<std::size_t>(kGuard + r * row + at + i)] = value;
      }
    }
    parts.push_back(part);
    at += width;
  }
  for (std::size_t i = 0; i < widths.size(); ++i) {
    pieces.push_back({parts[i].data() + kGuard, widths[i]});
    targets.push_back({split[i].data() + kGuard, widths[i]});
  }
  join_rows(pieces, joined.data() + kGuard, rows);
  EXPECT_EQ(joined, whole) << rows << " rows, " << widths.size() << " pieces";
  split_rows(targets, whole.data() + kGuard, rows);
  EXPECT_EQ(split, parts) << rows << " rows, " << widths.size() << " pieces";
}

TEST(PiecesOfRows, AreJoinedAndSplitAndNothingElseIsWritten) {
  for (const int64_t rows : {1, 2, 3, 15, 16, 17, 33, 50}) {
    for (int64_t width = 1; width <= kWidestPiece; ++width) {
      check_pieces({width}, rows);
      check_pieces({width, 1}, rows);
      check_pieces({1, width, 5}, rows);
      check_pieces({3, 16, width, width, kWidestPiece, 2}, rows);
    }
  }
}

// As many as two vectors hold, of one width and of several, and one more; rows around a step and
// around the last store that fits.
TEST(PiecesOfRows, OfAFewBytesAreMovedByWholeVectors) {
  for (std::size_t count = 1; count <= 9; ++count) {
    for (int64_t width = 1; width <= 9; ++width) {
      std::vector<int64_t> widths(count, width);
      for (int64_t rows = 1; rows <= 40; ++rows) check_pieces(widths, rows);
      check_pieces(widths, 301);
      for (std::size_t i = 0; i < count; ++i)
        widths[i] = 1 + (width * static_cast<int64_t>(i + 1)) % 8;
      for (int64_t rows = 1; rows <= 40; ++rows) check_pieces(widths, rows);
      check_pieces(widths, 301);
    }
  }
}

}  // namespace
}  // namespace mxnet
