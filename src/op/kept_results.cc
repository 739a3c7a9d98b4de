// SPDX-License-Identifier: Apache-2.0
// The set of these operators.
#include "op/kept_results.h"

#include <set>

#include "base/leaked.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// Filled before main, read-only afterwards.
std::set<const OpDef*>& kept() {
  static Leaked<std::set<const OpDef*>> ops;
  return *ops;
}

}  // namespace

bool mark_kept(std::string_view op) {
  kept().insert(&Registry::get().at(op));
  return true;
}

bool keeps_results(const OpDef& op) { return kept().count(&op) != 0; }

}  // namespace mxnet
