// SPDX-License-Identifier: Apache-2.0
// Running recurrent layers: what one shape needs is asked for at its first call and kept.
#pragma once
#include <memory>
#include <vector>

#include "op/kernel.h"
#include "plugin/cuda/dnn/recurrent.h"

namespace mxnet::cuda {

// What runs networks of one shape on one device. Thread-safe.
class RecurrentRunner {
 public:
  virtual ~RecurrentRunner() = default;
  virtual const RecurrentSizes& sizes() const = 0;
  virtual void forward(NativeStream* stream, const std::vector<int32_t>& lengths,
                       const RecurrentForward& arrays, KernelContext& context) const = 0;
  virtual void backward(NativeStream* stream, const std::vector<int32_t>& lengths,
                        const RecurrentBackward& arrays, KernelContext& context) const = 0;
};

// Null where cuDNN is not there or does not compute this network, which is said once a shape; the
// answer stays the same, so that forward and backward agree. `keeps`: whether there is a backward
// pass. The first call of a shape tries the ways that cuDNN has, in memory of the call's.
std::shared_ptr<const RecurrentRunner> recurrent_runner(KernelContext& context,
                                                        const RecurrentShape& shape,
                                                        const std::vector<WeightPart>& parts,
                                                        bool keeps);

}  // namespace mxnet::cuda
