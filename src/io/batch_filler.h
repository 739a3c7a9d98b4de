// SPDX-License-Identifier: Apache-2.0
// Batches of a source that gives one sample after the other: the rule of how an epoch ends.
#pragma once
#include <cstdint>

#include "base/error.h"

namespace mxnet::io {

// How many samples of the last batch were read again from the start, and what that means for the
// next epoch. `Rows` has bool next(i) (reads the next sample into place i of the batch, false at
// the end) and rewind().
class BatchFiller {
 public:
  explicit BatchFiller(uint32_t batch_size) : batch_size_(batch_size) {}

  // Samples in the new batch: 0 (the epoch is over) to the batch's size. With `wrap` a started
  // batch is always filled up; *pad is how many samples did that. Throws Error(kValue) where the
  // rows have gone meanwhile.
  template <class Rows>
  uint32_t fill(Rows& rows, bool wrap, int* pad) {
    *pad = 0;
    if (wrapped_) return 0;
    uint32_t count = 0;
    while (count < batch_size_ && rows.next(count)) ++count;
    if (count == 0 || count == batch_size_ || !wrap) return count;
    *pad = static_cast<int>(batch_size_ - count);
    wrapped_ = true;
    while (count < batch_size_) {
      rows.rewind();  // more than once when the batch is larger than the data
      const uint32_t before = count;
      while (count < batch_size_ && rows.next(count)) ++count;
      if (count == before)
        throw Error(ErrorCode::kValue, "DataIter",
                    "given a file that was emptied while it was read");
    }
    return count;
  }

  template <class Rows>
  void start_epoch(Rows& rows, bool after_end) {
    if (!(after_end && wrapped_)) rows.rewind();
    wrapped_ = false;
  }

 private:
  const uint32_t batch_size_;
  bool wrapped_ = false;
};

}  // namespace mxnet::io
