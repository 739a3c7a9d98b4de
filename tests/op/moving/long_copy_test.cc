// SPDX-License-Identifier: Apache-2.0
// Pieces arrive whole, whichever way threads walk through them.
#include "op/moving/long_copy.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/stream_copy.h"

namespace mxnet {
namespace {

class LongCopy : public ::testing::TestWithParam<int64_t> {};

// Some are empty, some end within a line; parts of threads end within pieces.
TEST_P(LongCopy, MovesAllPiecesOnTheWayThereAndBack) {
  const int64_t unit = GetParam();
  const std::vector<int64_t> sizes{3 * unit, 0, unit + 1, 7, 2 * unit + 63, 1};
  std::vector<std::vector<char>> parts;
  std::vector<char> expected;
  for (const int64_t size : sizes) {
    std::vector<char>& part = parts.emplace_back(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < part.size(); ++i)
      part[i] = static_cast<char>(i * 31 + (i >> 8) + parts.size());
    expected.insert(expected.end(), part.begin(), part.end());
  }
  const auto whole = static_cast<int64_t>(expected.size());
  for (int walk = 0; walk < 2; ++walk) {
    std::vector<char> to(expected.size() + 1, 'x');
    std::vector<LongPiece> pieces;
    int64_t at = 0;
    for (const std::vector<char>& part : parts) {
      const auto bytes = static_cast<int64_t>(part.size());
      pieces.push_back({part.data(), to.data() + at, bytes});
      at += bytes;
    }
    copy_pieces(pieces, whole);
    EXPECT_EQ(to.back(), 'x');
    to.pop_back();
    EXPECT_EQ(to, expected) << "walk " << walk;
  }
}

// Within a page, in the second-level cache, in the third-level one, and more than that holds.
INSTANTIATE_TEST_SUITE_P(Sizes, LongCopy, ::testing::Values(1, 100, 100000, 1 << 20, kPastCaches));

}  // namespace
}  // namespace mxnet
