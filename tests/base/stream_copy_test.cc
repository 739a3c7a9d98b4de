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
    }
  }
}

}  // namespace
}  // namespace mxnet
