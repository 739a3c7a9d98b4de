// SPDX-License-Identifier: Apache-2.0
// A set of operators that the files which define them add to before main, read-only afterwards: a
// fact beside OpDef for which few callers ask.
#pragma once
#include <string_view>
#include <unordered_set>

#include "base/leaked.h"
#include "op/op_def.h"

namespace mxnet {

// Mark: a type of its own for each set.
template <class Mark>
class MarkedOps {
 public:
  // True, for initializers.
  static bool add(std::string_view op) {
    ops().insert(&Registry::get().at(op));
    return true;
  }
  static bool contains(const OpDef& op) { return ops().contains(&op); }

 private:
  static std::unordered_set<const OpDef*>& ops() {
    static Leaked<std::unordered_set<const OpDef*>> ops;
    return *ops;
  }
};

}  // namespace mxnet
