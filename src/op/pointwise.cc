// SPDX-License-Identifier: Apache-2.0
// The set of pointwise operators.
#include "op/pointwise.h"

#include "op/marked_ops.h"

namespace mxnet {
namespace {

using Pointwise = MarkedOps<struct PointwiseMark>;

}  // namespace

void mark_pointwise(std::string_view op) { Pointwise::add(op); }

const KernelEntry* pointwise_kernel(const OpDef& op) {
  if (!Pointwise::contains(op)) return nullptr;
  const KernelEntry* found = nullptr;
  for (const KernelEntry& kernel : op.kernels()) {
    if (kernel.device != DeviceType::kCPU) continue;
    if (found != nullptr || kernel.accepts) return nullptr;
    found = &kernel;
  }
  return found;
}

}  // namespace mxnet
