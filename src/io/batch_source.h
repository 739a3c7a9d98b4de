// SPDX-License-Identifier: Apache-2.0
// What reads and decodes: batches of arrays, epoch after epoch.
#pragma once
#include <cstdint>
#include <vector>

#include "ndarray/ndarray.h"

namespace mxnet::io {

// A batch owns its arrays: it stays as it is while later ones are read.
struct Batch {
  NDArray data, label;
  std::vector<uint64_t> index;  // of each sample in its source
  int pad = 0;                  // samples at the end that only fill the batch up
};

// One thread at a time. Ready for its first epoch when it is made.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // `after_end`: the epoch before was read to its end; what filled up its last batch counts as read
  // in this one. Otherwise the epoch starts at the first sample.
  virtual void start_epoch(bool after_end) = 0;
  // False at the end of the epoch.
  virtual bool next(Batch* batch) = 0;
};

}  // namespace mxnet::io
