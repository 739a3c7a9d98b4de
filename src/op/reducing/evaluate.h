// SPDX-License-Identifier: Apache-2.0
// From a reduction to the elements of a tensor: the accumulator that fits input, output and
// MXNET_SAFE_ACCUMULATION, and what is done to the finished value.
#pragma once
#include <optional>

#include "op/kernel.h"
#include "op/reducing/reduce_engine.h"

namespace mxnet {

enum class Finish : uint8_t { kValue, kMean, kRoot };

struct ReduceCall {
  Reduction reduction;
  Finish finish = Finish::kValue;
  std::optional<double> initial = {};  // meets the value as one more element
  int64_t ddof = 0;                    // a mean divides by the number of elements less this
  bool wide = accumulate_wide();       // float32 meets in float64
};

// out = the reduction of `in` along `axes`, on the device of the call.
void reduce_to(const ReduceCall& call, const Tensor& in, AxisSet axes, const Tensor& out,
               KernelContext& context);

// Norms of one number each: it without its sign. Whether they were taken, of arrays of one floating
// type.
bool take_magnitudes(const Tensor& in, const Tensor& out);

}  // namespace mxnet
