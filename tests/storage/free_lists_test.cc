// SPDX-License-Identifier: Apache-2.0
// Newest of a size, oldest of all: against a plain model, over a long random program.
#include "storage/free_lists.h"

#include <gtest/gtest.h>

#include <list>
#include <random>

namespace mxnet {
namespace {

FreeBlock block(uintptr_t id, std::size_t capacity) {
  return {{reinterpret_cast<void*>(id), capacity}};
}

TEST(FreeLists, ServesTheNewestOfASizeAndTheOldestOfAll) {
  FreeLists lists;
  lists.push(block(1, 64), 10);
  lists.push(block(2, 128), 11);
  lists.push(block(3, 64), 12);
  EXPECT_EQ(lists.bytes(), 256u);
  EXPECT_EQ(lists.count(64), 2u);
  EXPECT_EQ(lists.oldest_stamp(), 10u);

  FreeBlock out;
  EXPECT_FALSE(lists.pop(32, &out));
  ASSERT_TRUE(lists.pop(64, &out));
  EXPECT_EQ(out.raw.data, block(3, 64).raw.data);
  ASSERT_TRUE(lists.pop_oldest(&out));
  EXPECT_EQ(out.raw.data, block(1, 64).raw.data);
  ASSERT_TRUE(lists.pop_oldest(&out));
  EXPECT_EQ(out.raw.data, block(2, 128).raw.data);
  EXPECT_TRUE(lists.empty());
  EXPECT_EQ(lists.bytes(), 0u);
}

TEST(FreeLists, AgreesWithAModelOverARandomProgram) {
  constexpr int kSteps = 200000;
  constexpr uint64_t kSeed = 20240607;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  FreeLists lists;
  std::list<std::pair<uintptr_t, std::size_t>> model;  // newest first
  std::size_t bytes = 0;
  for (int step = 0; step < kSteps; ++step) {
    // Sizes drift, so that bins run empty for good and the table is rebuilt.
    const std::size_t capacity = 4096 * (1 + random() % 40 + static_cast<std::size_t>(step) / 500);
    FreeBlock out;
    switch (random() % 5) {
      case 0:
      case 1:
        lists.push(block(step + 1, capacity), step);
        model.emplace_front(step + 1, capacity);
        bytes += capacity;
        break;
      case 2:
      case 3: {
        auto found = model.begin();
        while (found != model.end() && found->second != capacity) ++found;
        ASSERT_EQ(lists.pop(capacity, &out), found != model.end()) << "step " << step;
        if (found == model.end()) break;
        ASSERT_EQ(out.raw.data, reinterpret_cast<void*>(found->first)) << "step " << step;
        bytes -= capacity;
        model.erase(found);
        break;
      }
      case 4:
        ASSERT_EQ(lists.pop_oldest(&out), !model.empty()) << "step " << step;
        if (model.empty()) break;
        ASSERT_EQ(out.raw.data, reinterpret_cast<void*>(model.back().first)) << "step " << step;
        bytes -= model.back().second;
        model.pop_back();
        break;
    }
    ASSERT_EQ(lists.bytes(), bytes) << "step " << step;
    ASSERT_EQ(lists.empty(), model.empty()) << "step " << step;
  }
}

TEST(FreeLists, PassesOverBlocksThatDoNotFit) {
  FreeLists lists;
  for (uintptr_t id = 1; id <= 3; ++id) lists.push(block(id, 64), id);
  FreeBlock out;
  const auto is = [](uintptr_t id) {
    return [id](const FreeBlock& b) { return b.raw.data == reinterpret_cast<void*>(id); };
  };
  EXPECT_FALSE(lists.pop(64, is(7), &out));
  ASSERT_TRUE(lists.pop(64, is(2), &out));
  EXPECT_EQ(lists.count(64), 2u);
  ASSERT_TRUE(lists.pop(64, &out));
  EXPECT_EQ(out.raw.data, block(3, 64).raw.data);
}

}  // namespace
}  // namespace mxnet
