// SPDX-License-Identifier: Apache-2.0
// Elements repeated: any number of them, each as often as a vector allows.
#include "op/moving/repeat_elements.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace mxnet {
namespace {

TEST(RepeatElements, RepeatsEachAndWritesNothingElse) {
  constexpr int64_t kGuard = 64;
  for (const int64_t width : {1, 2, 4, 8}) {
    for (int64_t count = 1; width * count < kLeastSpread; ++count) {
      for (int64_t n = 0; n <= 70; ++n) {
        std::vector<char> in(static_cast<std::size_t>(n * width + 1));
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7 + 11);
        std::vector<char> out(static_cast<std::size_t>(n * width * count + 2 * kGuard), 'x'),
            expected = out;
        const char* const from = in.data() + 1;
        char* to = expected.data() + kGuard + 1;
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < count; ++j, to += width)
            std::memcpy(to, from + i * width, static_cast<std::size_t>(width));
        }
        repeat_elements(from, out.data() + kGuard + 1, n, width, count);
        EXPECT_EQ(out, expected) << n << " of " << width << " bytes, " << count << " times";
      }
    }
  }
}

}  // namespace
}  // namespace mxnet
