// SPDX-License-Identifier: Apache-2.0
// How an epoch ends when samples come one after the other.
#include "io/batch_filler.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"

namespace mxnet::io {
namespace {

// Gives the numbers from 0 on, `left_` of them over all passes.
class Numbers {
 public:
  Numbers(int count, int left) : count_(count), left_(left) {}
  bool next(uint32_t place) {
    if (at_ == count_ || left_ == 0) return false;
    --left_;
    if (read_.size() <= place) read_.resize(place + 1);
    read_[place] = at_++;
    return true;
  }
  void rewind() { at_ = 0; }
  const std::vector<int>& read() const { return read_; }

 private:
  const int count_;
  int left_, at_ = 0;
  std::vector<int> read_;
};
constexpr int kNoEnd = 1 << 20;

TEST(BatchFiller, FillsUpFromTheStartAsOftenAsItTakes) {
  Numbers rows(3, kNoEnd);
  BatchFiller filler(8);
  int pad = -1;
  EXPECT_EQ(filler.fill(rows, true, &pad), 8U);
  EXPECT_EQ(pad, 5);
  EXPECT_EQ(rows.read(), (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(filler.fill(rows, true, &pad), 0U);  // the epoch is over
  filler.start_epoch(rows, true);                // and the next one goes on behind the pad
  EXPECT_EQ(filler.fill(rows, true, &pad), 8U);
  EXPECT_EQ(rows.read().front(), 2);
}

TEST(BatchFiller, LeavesAShortBatchThatIsNotToWrap) {
  Numbers rows(3, kNoEnd);
  BatchFiller filler(2);
  int pad = -1;
  EXPECT_EQ(filler.fill(rows, false, &pad), 2U);
  EXPECT_EQ(filler.fill(rows, false, &pad), 1U);
  EXPECT_EQ(pad, 0);
  EXPECT_EQ(filler.fill(rows, false, &pad), 0U);
}

// A file may be emptied while it is read: the thread that reads must not look for ever.
TEST(BatchFiller, RowsThatHaveGoneAreAnError) {
  Numbers rows(3, 3);
  BatchFiller filler(8);
  int pad = -1;
  EXPECT_THROW(filler.fill(rows, true, &pad), Error);
}

}  // namespace
}  // namespace mxnet::io
