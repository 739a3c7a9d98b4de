// SPDX-License-Identifier: Apache-2.0
// LSTM layers outside of training, their products by the methods of strassen.h. Directions wait for
// each other as long as nobody else needs what they write: then each thread takes its samples
// through all layers, and no thread waits for another one between.
#pragma once
#include <memory>
#include <vector>

#include "op/rnn/network.h"

namespace mxnet::rnn {

class StrassenDirection;

// Used by the thread of the kernel.
class StrassenRuns {
 public:
  explicit StrassenRuns(KernelContext& context);
  ~StrassenRuns();
  // Does, now or in run(), what run_direction() of forward_layer.cc does; `y` is where this
  // direction's part of the outputs begins, and all that is handed in stays until then. False, and
  // only what waited may have run, where the configuration, the sizes or the numbers want plain
  // products.
  bool add(const RnnParams& params, const Extent& extent, const ForwardArrays<float>& arrays,
           int64_t layer, int direction, const float* x, float* y);
  // Runs what waits: before others read the outputs, and at the end.
  void run();

 private:
  // Room for `count` numbers at 64 bytes; what was there before is lost. Those that run take it in
  // turns: a layer's sums stay in the cache of all cores, and those of the next one find their
  // places there.
  float* scratch_of(int64_t count);

  KernelContext& context_;
  std::vector<std::unique_ptr<StrassenDirection>> waiting_;
  float* numbers_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace mxnet::rnn
