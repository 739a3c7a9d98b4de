// SPDX-License-Identifier: Apache-2.0
// Rows moved apart: all rows and all that goes between them, and nothing before and behind.
#include "op/moving/row_copy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
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

}  // namespace
}  // namespace mxnet
