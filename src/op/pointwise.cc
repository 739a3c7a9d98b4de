// SPDX-License-Identifier: Apache-2.0
// The set of pointwise operators.
#include "op/pointwise.h"

#include <unordered_set>

#include "base/leaked.h"

namespace mxnet {
namespace {

std::unordered_set<const OpDef*>& marked() {
  static Leaked<std::unordered_set<const OpDef*>> ops;
  return *ops;
}

}  // namespace

void mark_pointwise(std::string_view op) { marked().insert(&Registry::get().at(op)); }

const KernelEntry* pointwise_kernel(const OpDef& op) {
  if (marked().count(&op) == 0) return nullptr;
  const KernelEntry* found = nullptr;
  for (const KernelEntry& kernel : op.kernels()) {
    if (kernel.device != DeviceType::kCPU) continue;
    if (found != nullptr || kernel.accepts != nullptr) return nullptr;
    found = &kernel;
  }
  return found;
}

}  // namespace mxnet
