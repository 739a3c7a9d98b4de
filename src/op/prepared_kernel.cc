// SPDX-License-Identifier: Apache-2.0
// The table of operators with prepared kernels.
#include "op/prepared_kernel.h"

#include <map>
#include <string>

#include "op/op_def.h"

namespace mxnet {
namespace {

// Filled before main, read-only afterwards.
std::map<std::string, PrepareFn, std::less<>>& table() {
  static std::map<std::string, PrepareFn, std::less<>> table;
  return table;
}

}  // namespace

bool same_layout(const LayoutRef& a, const LayoutRef& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a == b || a->equals(*b);
}

bool add_prepared_kernel(const char* op, PrepareFn prepare) {
  return table().emplace(op, prepare).second;
}

PrepareFn prepared_kernel_of(const OpDef& op) {
  const auto at = table().find(op.name());
  return at == table().end() ? nullptr : at->second;
}

}  // namespace mxnet
