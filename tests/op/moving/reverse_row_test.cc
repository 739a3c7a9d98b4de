// SPDX-License-Identifier: Apache-2.0
// Rows copied backwards, and every second element of them, of any length from a vector of 16 bytes
// on, at any alignment.
#include "op/moving/reverse_row.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace mxnet {
namespace {

template <int kWidth>
void check_rows_of(int64_t n, int64_t ahead) {
  constexpr int64_t kRows = 3, kGuard = 80;
  const int64_t row = n * kWidth, in_step = row + 5, out_step = row + 3;
  std::vector<char> in(static_cast<std::size_t>(ahead + kRows * in_step));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7 + i / 251);
  std::vector<char> out(static_cast<std::size_t>(2 * kGuard + kRows * out_step), 'x'),
      expected = out;
  const char* const last = in.data() + ahead + (n - 1) * kWidth;
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(expected.data() + kGuard + ahead + r * out_step + i * kWidth,
                  last + r * in_step - i * kWidth, kWidth);
    }
  }
  reverse_rows<kWidth>(last, in_step, out.data() + kGuard + ahead, out_step, n, kRows);
  EXPECT_EQ(out, expected) << n << " elements of " << kWidth << " bytes, " << ahead << " ahead";
}

// Out of memory that ends with the last element that is taken.
template <int kWidth>
void check_every_second_of(int64_t n, int64_t ahead) {
  constexpr int64_t kRows = 3, kGuard = 80;
  const int64_t in_step = 2 * n * kWidth + 5, out_step = n * kWidth + 3;
  const int64_t read = (kRows - 1) * in_step + (2 * n - 1) * kWidth;
  std::vector<char> in(static_cast<std::size_t>(ahead + read));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7 + i / 251);
  std::vector<char> out(static_cast<std::size_t>(2 * kGuard + kRows * out_step), 'x'),
      expected = out;
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(expected.data() + kGuard + r * out_step + i * kWidth,
                  in.data() + ahead + r * in_step + 2 * i * kWidth, kWidth);
    }
  }
  alternate_rows<kWidth>(in.data() + ahead, in_step, out.data() + kGuard, out_step, n, kRows);
  EXPECT_EQ(out, expected) << n << " elements of " << kWidth << " bytes, " << ahead << " ahead";
}

template <int kWidth>
void check_lengths() {
  for (int64_t bytes = kLeastReversed; bytes <= 300; bytes += kWidth) {
    for (const int64_t ahead : {0, 1, 13}) {
      check_rows_of<kWidth>(bytes / kWidth, ahead);
      check_every_second_of<kWidth>(bytes / kWidth, ahead);
    }
  }
}

TEST(ReverseRows, AreBackwardsOrHalvedForEachLengthAndNothingElseIsWritten) {
  check_lengths<1>();
  check_lengths<2>();
  check_lengths<4>();
  check_lengths<8>();
}

}  // namespace
}  // namespace mxnet
