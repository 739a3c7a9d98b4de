// SPDX-License-Identifier: Apache-2.0
// Which arrays of a call its gradient rule will look at. Only these are kept until backward; the
// rest of the forward pass's memory is free at once.
#pragma once
#include <cstdint>
#include <vector>

#include "base/ref.h"
#include "op/params/parsed_attrs.h"

namespace mxnet {

// Immutable.
class SavePlan : public RefCounted {
 public:
  static constexpr int32_t kNotSaved = -1;
  SavePlan(int num_in, int num_out)
      : inputs(static_cast<std::size_t>(num_in), kNotSaved),
        outputs(static_cast<std::size_t>(num_out), kNotSaved) {}

  // Position among the saved arrays, or kNotSaved.
  std::vector<int32_t> inputs, outputs;
  std::vector<bool> needs_value;  // by position: not only shape and type
};
using SavePlanRef = Ref<const SavePlan>;

// The plan of a call with these attributes; bit i of `wants`: the gradient of input i may be asked
// for (input 63 stands for all after it). Found by building the gradient's nodes once, through this
// thread's cache.
SavePlanRef save_plan(const ParsedAttrsRef& parsed, int num_in, int num_out, uint64_t wants);

}  // namespace mxnet
