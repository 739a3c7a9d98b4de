// SPDX-License-Identifier: Apache-2.0
// A pattern is continued to where it is asked for, and no further.
#include "base/repeat_bytes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace mxnet {
namespace {

TEST(RepeatBytes, ContinuesThePatternAndWritesNoMore) {
  constexpr int64_t kRoom = 1024, kLarge = 64 << 20;
  for (int64_t begin = 0; begin < 64; begin += 12) {
    for (int64_t bytes = kPatternBytes; begin + bytes <= kRoom; ++bytes) {
      std::vector<char> out(kRoom, 'x'), expected(kRoom, 'x');
      for (int64_t i = 0; i < bytes; ++i) {
        const auto value = static_cast<char>(i % kPatternBytes);
        expected[static_cast<std::size_t>(begin + i)] = value;
        if (i < kPatternBytes) out[static_cast<std::size_t>(begin + i)] = value;
      }
      std::vector<char> part = out;
      repeat_bytes(out.data() + begin, bytes);
      ASSERT_EQ(out, expected) << bytes << " bytes at " << begin;
      repeat_bytes(part.data() + begin, bytes, kLarge);
      ASSERT_EQ(part, expected) << bytes << " bytes at " << begin << ", part of many";
    }
  }
}

}  // namespace
}  // namespace mxnet
