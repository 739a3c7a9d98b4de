// SPDX-License-Identifier: Apache-2.0
// Results that are written past the caches are those that a loop would have written.
#include "op/moving/past_caches.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/owned_lines.h"
#include "base/stream_copy.h"

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
          write_results(out, count, whole, 0, apart, true, {},
                        [&](int64_t first, int64_t* y, int64_t n) {
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

// Results of several blocks of a walk, there and back, in the caches and past them, and of loops
// that compute for long.
TEST(PastCaches, WritesThereAndBackTheSame) {
  constexpr int64_t kBlock = Sweep::kBlockBytes / int64_t{sizeof(int64_t)};
  std::vector<int64_t> memory;
  for (const bool large : {false, true}) {
    for (const bool light : {false, true}) {
      for (const int64_t count : {kBlock - 1, kBlock, kBlock + 1, 3 * kBlock + 5}) {
        for (int turn = 0; turn < 2; ++turn) {
          memory.assign(static_cast<std::size_t>(count) + 1, -1);
          const int64_t whole = large ? 3 * kPastCaches : count;
          write_results(memory.data(), count, whole, 8 * whole, true, light, {},
                        [&](int64_t first, int64_t* y, int64_t n) {
                          for (int64_t i = 0; i < n; ++i) y[i] = 3 * (first + i);
                        });
          EXPECT_EQ(memory.back(), -1);
          for (int64_t i = 0; i < count; ++i) ASSERT_EQ(memory[static_cast<std::size_t>(i)], 3 * i);
        }
      }
    }
  }
}

// What a processor that asks for lines does instead, in results that are large enough and not.
TEST(PastCaches, LinesThatAreAskedForAreWrittenOnceInBlocks) {
  constexpr int64_t kCount = 3000;
  for (const int64_t begin : {0, 1, 5}) {
    std::vector<int64_t> memory(kCount + 8, -1);
    int64_t* const out = memory.data() + begin;
    int64_t next = 0;
    write_owned(reinterpret_cast<char*>(out), sizeof(int64_t), kCount, [&](int64_t i, int64_t n) {
      EXPECT_EQ(i, next);
      EXPECT_LE(n * static_cast<int64_t>(sizeof(int64_t)), kOwnedBlock);
      next = i + n;
      for (int64_t k = i; k < next; ++k) out[k] = 2 * k;
    });
    EXPECT_EQ(next, kCount);
    for (int64_t k = 0; k < kCount; ++k) ASSERT_EQ(out[k], 2 * k);
  }
  // An element larger than a block is one by itself.
  int64_t calls = 0;
  write_owned(nullptr, 2 * kOwnedBlock, 3, [&](int64_t, int64_t n) { calls += n; });
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(owns_lines(kOwnedFrom - 1));
}

// Where the first results go: to their own place, or to a block.
bool goes_past(int64_t written, int64_t read, bool many_threads) {
  std::vector<char> memory(4096);
  bool past = false;
  const int64_t count = many_threads ? 1 : written;
  // What is not written past the caches is not written here at all.
  if (!many_threads) memory.resize(static_cast<std::size_t>(written));
  write_results(memory.data(), count, written, read, true, true, {},
                [&](int64_t first, const char* y, int64_t) { past |= y != memory.data() + first; });
  return past;
}

// What is read and written together decides, and how many threads do it.
TEST(PastCaches, AreForWhatDoesNotFitThem) {
  if (owns_lines(kOwnedFrom)) GTEST_SKIP() << "this processor asks for lines instead";
  constexpr int64_t kMiB = int64_t{1} << 20;
  EXPECT_FALSE(goes_past(16 * kMiB - 1, 32 * kMiB, false));
  EXPECT_TRUE(goes_past(16 * kMiB, 16 * kMiB, false));
  EXPECT_TRUE(goes_past(16 * kMiB, 32 * kMiB, true));
  EXPECT_FALSE(goes_past(24 * kMiB - 1, 24 * kMiB - 1, true));
  EXPECT_TRUE(goes_past(24 * kMiB, 24 * kMiB, true));
}

// A row that is added to all rows stays in the caches, and leaves them to what is written.
TEST(PastCaches, HoldMoreOfWhatIsWrittenThanOfWhatIsReadToo) {
  if (owns_lines(kOwnedFrom)) GTEST_SKIP() << "this processor asks for lines instead";
  constexpr int64_t kMiB = int64_t{1} << 20;
  EXPECT_FALSE(goes_past(36 * kMiB - 1, 0, false));
  EXPECT_TRUE(goes_past(36 * kMiB, 0, false));
  EXPECT_FALSE(goes_past(72 * kMiB - 1, 0, true));
  EXPECT_TRUE(goes_past(72 * kMiB, 0, true));
}

}  // namespace
}  // namespace mxnet
