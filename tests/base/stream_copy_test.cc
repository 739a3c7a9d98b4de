// SPDX-License-Identifier: Apache-2.0
// Copies past the caches write what they are given, wherever lines begin.
#include "base/stream_copy.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

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
    }
  }
}

// A part is copied alike whether the whole is large or small.
TEST(StreamCopy, CopiesPartsOfAnyWhole) {
  constexpr std::size_t kBytes = 10007;
  std::vector<unsigned char> from(kBytes);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  for (const std::size_t whole : {kBytes, static_cast<std::size_t>(kPastCaches)}) {
    std::vector<unsigned char> to(kBytes + 1, 0), expected = from;
    expected.push_back(0);
    copy_part(to.data(), from.data(), kBytes, whole);
    EXPECT_EQ(to, expected) << whole;
    copy_part(nullptr, nullptr, 0, whole);
  }
}

}  // namespace
}  // namespace mxnet
