// SPDX-License-Identifier: Apache-2.0
// Rows of fewer bytes than a vector, of every length and number, at any alignment.
#include "op/moving/reverse_short_rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/simd.h"

namespace mxnet {
namespace {

void check_rows(int64_t width, int64_t element, int64_t rows, int64_t ahead) {
  constexpr int64_t kGuard = 32;
  // No byte behind the rows, so that a sanitizer sees one that is read there.
  std::vector<char> in(static_cast<std::size_t>(ahead + rows * width));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7 + i / 251);
  std::vector<char> out(static_cast<std::size_t>(ahead + rows * width + 2 * kGuard), 'x'),
      expected = out;
  for (int64_t at = 0; at < rows * width; at += element) {
    const int64_t row = at / width * width;
    std::memcpy(expected.data() + kGuard + ahead + at,
                in.data() + ahead + row + width - element - (at - row),
                static_cast<std::size_t>(element));
  }
  ASSERT_TRUE(
      reverse_short_rows(in.data() + ahead, out.data() + kGuard + ahead, width, element, rows));
  EXPECT_EQ(out, expected) << rows << " rows of " << width << " bytes, elements of " << element;
}

TEST(ReverseShortRows, AreBackwardsForEachLengthAndNothingElseIsWritten) {
  if (simd_level() == 0) GTEST_SKIP() << "the processor has no exchange of bytes";
  for (const int64_t element : {1, 2, 4, 8})
    for (int64_t width = element; width < 16; width += element)
      for (int64_t rows = 0; rows <= 40; ++rows)
        for (const int64_t ahead : {0, 1, 13}) check_rows(width, element, rows, ahead);
}

TEST(ReverseShortRows, ComeInReverseOrderForEachLengthAndNothingElseIsWritten) {
  if (simd_level() == 0) GTEST_SKIP() << "the processor has no exchange of bytes";
  constexpr int64_t kGuard = 32;
  for (int64_t width = 1; width < 16; ++width) {
    for (int64_t rows = (15 + width) / width; rows <= 40; ++rows) {
      // No byte around the rows, so that a sanitizer sees one that is read there.
      std::vector<char> in(static_cast<std::size_t>(rows * width));
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7 + i / 251);
      std::vector<char> out(static_cast<std::size_t>(rows * width + 2 * kGuard), 'x'),
          expected = out;
      for (int64_t row = 0; row < rows; ++row)
        std::memcpy(expected.data() + kGuard + row * width, in.data() + (rows - 1 - row) * width,
                    static_cast<std::size_t>(width));
      ASSERT_TRUE(reverse_order_of_short_rows(in.data(), out.data() + kGuard, width, rows));
      EXPECT_EQ(out, expected) << rows << " rows of " << width << " bytes";
    }
  }
}

TEST(ReverseShortRows, LeaveLongerRowsToOthers) {
  char in[64] = {}, out[64];
  EXPECT_FALSE(reverse_short_rows(in, out, 16, 1, 4));
}

}  // namespace
}  // namespace mxnet
