// SPDX-License-Identifier: Apache-2.0
// The table of kernels that add.
#include "op/run/adding.h"

#include <unordered_map>

#include "base/error.h"
#include "base/leaked.h"

namespace mxnet {
namespace {

// Filled before main, read-only afterwards.
std::unordered_map<const OpDef*, AddingKernel>& table() {
  static Leaked<std::unordered_map<const OpDef*, AddingKernel>> kernels;
  return *kernels;
}

}  // namespace

void add_adding(std::string_view op, const AddingKernel& kernel) {
  const bool added = table().emplace(&Registry::get().at(op), kernel).second;
  MX_ASSERT(added);
}

const AddingKernel* adding_kernel(const OpDef& op) {
  const auto found = table().find(&op);
  return found == table().end() ? nullptr : &found->second;
}

}  // namespace mxnet
