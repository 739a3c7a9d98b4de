// SPDX-License-Identifier: Apache-2.0
// The set of these operators: filled before main, read-only afterwards.
#include "op/device_crossing.h"

#include <unordered_set>

#include "base/leaked.h"

namespace mxnet {
namespace {

std::unordered_set<const OpDef*>& crossing() {
  static Leaked<std::unordered_set<const OpDef*>> ops;
  return *ops;
}

}  // namespace

bool mark_crossing(std::string_view op) {
  return crossing().insert(&Registry::get().at(op)).second;
}
bool crosses_devices(const OpDef& op) { return crossing().contains(&op); }

}  // namespace mxnet
