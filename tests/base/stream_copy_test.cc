// SPDX-License-Identifier: Apache-2.0
// Copies past the caches write what they are given, wherever lines begin.
#include "base/stream_copy.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/owned_lines.h"

namespace mxnet {
namespace {

// All places in a line where an array may begin or end, with no whole line, one and several.
TEST(StreamCopy, CopiesTheBytesThatItIsGivenAndNoOthers) {
  constexpr std::size_t kLine = 64, kMost = 5 * kLine;
  std::vector<unsigned char> from(kMost);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  for (std::size_t begin = 0; begin < kLine; ++begin) {
    for (std::size_t bytes = 0; begin + bytes <= kMost; ++bytes) {
      std::vector<unsigned char> expected(kMost, 0), to(kMost, 0);
      std::copy_n(from.begin(), bytes, expected.begin() + static_cast<std::ptrdiff_t>(begin));
      stream_copy(to.data() + begin, from.data(), bytes);
      finish_stream_copies();
      ASSERT_EQ(to, expected) << bytes << " bytes to " << begin;
      std::fill(to.begin(), to.end(), static_cast<unsigned char>(0));
      stream_from_memory(to.data() + begin, from.data(), bytes);
      finish_stream_copies();
      ASSERT_EQ(to, expected) << bytes << " bytes out of memory to " << begin;
      std::fill(to.begin(), to.end(), static_cast<unsigned char>(0));
      copy_backwards(to.data() + begin, from.data(), bytes);
      ASSERT_EQ(to, expected) << bytes << " bytes from the end to " << begin;
    }
  }
}

// A part is copied alike whether the whole is large or small.
TEST(StreamCopy, CopiesPartsOfAnyWhole) {
  constexpr std::size_t kBytes = 10007;
  std::vector<unsigned char> from(kBytes);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  for (const std::size_t whole :
       {kBytes, static_cast<std::size_t>(kOwnedFrom), static_cast<std::size_t>(kPastCaches)}) {
    std::vector<unsigned char> to(kBytes + 1, 0), expected = from;
    expected.push_back(0);
    copy_part(to.data(), from.data(), kBytes, whole);
    EXPECT_EQ(to, expected) << whole;
    copy_part(nullptr, nullptr, 0, whole);
  }
}

// So long that it may be one string: from all kinds of places to all kinds of places.
TEST(StreamCopy, CopiesLongPartsAndNoMore) {
  constexpr std::size_t kBytes = (600 << 10) + 13, kRoom = kBytes + 128;
  std::vector<unsigned char> from(kRoom);
  for (std::size_t i = 0; i < kRoom; ++i) from[i] = static_cast<unsigned char>(i * 31 + (i >> 8));
  for (const std::size_t read_at : {0, 1, 32, 63}) {
    for (const std::size_t write_at : {0, 1, 4, 32, 63}) {
      std::vector<unsigned char> to(kRoom, 0), expected(kRoom, 0);
      std::copy_n(from.data() + read_at, kBytes, expected.data() + write_at);
      copy_part(to.data() + write_at, from.data() + read_at, kBytes, kBytes);
      EXPECT_EQ(to, expected) << read_at << " to " << write_at;
    }
  }
}

// Rows shorter and longer than what is asked for ahead, with gaps between them, and none.
TEST(StreamCopy, CopiesRowsAndWhatLiesBetweenThemStays) {
  constexpr std::ptrdiff_t kGap = 24;
  for (const std::size_t bytes : {0, 1, 100, 1984, 2048, 2112, 5000}) {
    for (const int64_t rows : {0, 1, 3}) {
      const auto step = static_cast<std::ptrdiff_t>(bytes) + kGap;
      std::vector<unsigned char> from(3 * (bytes + 1)), to(3 * (bytes + kGap), 0), expected = to;
      std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
      for (int64_t row = 0; row < rows; ++row) {
        std::copy_n(from.begin() + row * static_cast<std::ptrdiff_t>(bytes + 1), bytes,
                    expected.begin() + row * step);
      }
      stream_rows(to.data(), step, from.data(), static_cast<std::ptrdiff_t>(bytes) + 1, bytes,
                  rows);
      finish_stream_copies();
      ASSERT_EQ(to, expected) << rows << " rows of " << bytes;
    }
  }
}

// Threads that share a cache keep more in it than one does; memory is no faster for them.
TEST(StreamCopy, ThreadsGoPastTheCachesLater) {
  EXPECT_LT(bytes_past_caches(1), bytes_past_caches(2));
  EXPECT_EQ(bytes_past_caches(2), bytes_past_caches(16));
}

}  // namespace
}  // namespace mxnet
