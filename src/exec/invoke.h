// SPDX-License-Identifier: Apache-2.0
// One operator call on arrays: inference, outputs, choice of a kernel, push. Recording is the
// tape's affair (tape.h).
#pragma once
#include <span>
#include <vector>

#include "base/device.h"
#include "ndarray/ndarray.h"
#include "op/op_def.h"

namespace mxnet {

// What to do with a result. The numbers are those of the C ABI.
enum class Request : uint8_t { kNull = 0, kWrite = 1, kInplace = 2, kAdd = 3 };

struct InvokeOptions {
  bool training = false;
  Device device;  // for operators without inputs
  // Per output; empty = all kWrite. kAdd needs given outputs.
  std::span<const Request> requests;
  int priority = 0;
};

// Runs `op`. `outputs` is either empty (then all outputs are made) or complete; a given output must
// have exactly the inferred shape and type, may be an input, and may be none (is_none: made).
// Errors of the caller are thrown here; those of kernels travel through the engine.
void invoke(const OpDef& op, const ParamsPtr& params, std::span<const NDArray> inputs,
            std::vector<NDArray>* outputs, const InvokeOptions& options);

}  // namespace mxnet
