// SPDX-License-Identifier: Apache-2.0
// One operator call on arrays: inference, outputs, choice of a kernel, push. Knows nothing of
// autograd: imperative.h adds recording.
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
  Device device{};  // for operators without inputs
  // Per output; empty = all kWrite. kAdd needs given outputs.
  std::span<const Request> requests{};
  int priority = 0;
  // Bit per input that the caller gives up: an output may take over its memory.
  uint64_t donated = 0;
  // Outputs that are to be made are dense, whatever the operator would choose.
  bool dense = false;
  // Nobody reads outputs that are not visible.
  bool hidden_unread = false;
};

using InputRefs = std::span<const NDArray* const>;
using OutputRefs = std::span<NDArray* const>;

// Runs `op`. There is one output for each that the operator has, hidden ones included; one that is
// none (is_none) is made, a given one must have exactly the inferred shape and type and may be an
// input. The arrays need not outlive the call. Errors of the caller are thrown here, before
// anything has happened; those of kernels travel through the engine.
void invoke(const OpDef& op, const ParamsPtr& params, InputRefs inputs, OutputRefs outputs,
            const InvokeOptions& options = {});

// Pushes "ones_like" or "zeros_like" of the array into itself.
void fill_array(const char* op, const NDArray& array);

}  // namespace mxnet
