// SPDX-License-Identifier: Apache-2.0
// Results that are written past the caches are those that a loop would have written.
#include "op/moving/past_caches.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace mxnet {
namespace {

// Lengths around those of a line and of a block, a result that begins anywhere in a line, whole
// results that fit the caches and that do not, and inputs that are the result.
TEST(PastCaches, WritesEveryResultOnceAndNothingElse) {
  constexpr int64_t kMost = 3000;
  std::vector<int64_t> memory(kMost + 32);
  for (const int64_t whole : {kMost, 3 * kPastCaches}) {
    for (const bool apart : {false, true}) {
      for (const int64_t count : {0, 1, 7, 8, 9, 511, 512, 513, 1024, 2999, 3000}) {
        for (int64_t begin = 0; begin < 9; ++begin) {
          memory.assign(memory.size(), -1);
          int64_t* const out = memory.data() + begin;
          write_results(out, count, whole, 0, apart, [&](int64_t first, int64_t* y, int64_t n) {
            for (int64_t i = 0; i < n; ++i) y[i] = 3 * (first + i);
          });
          for (int64_t i = 0; i < static_cast<int64_t>(memory.size()); ++i) {
            const bool inside = i >= begin && i < begin + count;
            ASSERT_EQ(memory[static_cast<std::size_t>(i)], inside ? 3 * (i - begin) : -1)
                << count << " of " << whole << " from " << begin;
          }
        }
      }
    }
  }
}

// Where the first results go: to their own place, or to a block.
bool goes_past(int64_t written, int64_t read, bool many_threads) {
  std::vector<char> memory(4096);
  bool past = false;
  const int64_t count = many_threads ? 1 : written;
  // What is not written past the caches is not written here at all.
  if (!many_threads) memory.resize(static_cast<std::size_t>(written));
  write_results(memory.data(), count, written, read, true,
                [&](int64_t, const char* y, int64_t) { past |= y != memory.data(); });
  return past;
}

// What is read and written together decides, and how many threads do it.
TEST(PastCaches, AreForWhatDoesNotFitThem) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  EXPECT_FALSE(goes_past(16 * kMiB - 1, 32 * kMiB, false));
  EXPECT_TRUE(goes_past(16 * kMiB, 16 * kMiB, false));
  EXPECT_TRUE(goes_past(16 * kMiB, 32 * kMiB, true));
  EXPECT_FALSE(goes_past(24 * kMiB - 1, 24 * kMiB - 1, true));
  EXPECT_TRUE(goes_past(24 * kMiB, 24 * kMiB, true));
}

// A row that is added to all rows stays in the caches, and leaves them to what is written.
TEST(PastCaches, HoldMoreOfWhatIsWrittenThanOfWhatIsReadToo) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  EXPECT_FALSE(goes_past(36 * kMiB - 1, 0, false));
  EXPECT_TRUE(goes_past(36 * kMiB, 0, false));
  EXPECT_FALSE(goes_past(72 * kMiB - 1, 0, true));
  EXPECT_TRUE(goes_past(72 * kMiB, 0, true));
}

}  // namespace
}  // namespace mxnet
