// SPDX-License-Identifier: Apache-2.0
// One direction of an LSTM layer outside of training, its products by Strassen's method.
#pragma once
#include "op/rnn/network.h"

namespace mxnet::rnn {

// Scratch that layers take in turns: a layer's sums stay in the cache of all cores, and those of
// the next one find their places there.
class LayerScratch {
 public:
  explicit LayerScratch(KernelContext& context) : context_(context) {}
  // Room for `count` numbers at 64 bytes; what was there before is lost.
  float* of(int64_t count);

 private:
  KernelContext& context_;
  float* numbers_ = nullptr;
  int64_t count_ = 0;
};

// As run_direction() of forward.cc; `y` is where this direction's part of the outputs begins.
// False, and nothing is done, where the configuration, the sizes or the numbers want plain
// products.
bool run_by_strassen(const RnnParams& params, const Extent& extent,
                     const ForwardArrays<float>& arrays, int64_t layer, int direction,
                     const float* x, float* y, LayerScratch& scratch, KernelContext& context);

}  // namespace mxnet::rnn
