// SPDX-License-Identifier: Apache-2.0
// What trials take of the device's memory.
#include "plugin/cuda/dnn/trial_memory.h"

#include <gtest/gtest.h>

namespace mxnet::cuda {
namespace {

class TrialMemoryTest : public ::testing::Test {
 protected:
  void* take(std::size_t bytes) {
    return memory_.take(bytes, [&](std::size_t asked) {
      made_.push_back(asked);
      return blocks_ + made_.size();
    });
  }

  TrialMemory memory_;
  std::vector<std::size_t> made_;  // bytes that were asked for
  char blocks_[16];
};

TEST_F(TrialMemoryTest, ArraysOfOneWayLieApart) { EXPECT_NE(take(8), take(8)); }

TEST_F(TrialMemoryTest, TheNextWayTakesWhatTheOneBeforeHad) {
  void *const first = take(100), *const second = take(50);
  memory_.rewind();
  EXPECT_EQ(take(80), first);
  EXPECT_EQ(take(50), second);
  EXPECT_EQ(made_, (std::vector<std::size_t>{100, 50}));
}

TEST_F(TrialMemoryTest, WhatIsTooSmallIsReplacedAlone) {
  void* const first = take(100);
  take(50);
  memory_.rewind();
  EXPECT_EQ(take(100), first);
  take(60);
  memory_.rewind();
  take(100);
  take(60);
  EXPECT_EQ(made_, (std::vector<std::size_t>{100, 50, 60}));
}

TEST_F(TrialMemoryTest, AnArrayThatAWayDoesNotHaveKeepsItsPlace) {
  take(100);
  void* const second = take(50);
  memory_.rewind();
  EXPECT_EQ(take(0), nullptr);
  EXPECT_EQ(take(50), second);
  EXPECT_EQ(made_.size(), 2u);
}

}  // namespace
}  // namespace mxnet::cuda
