// SPDX-License-Identifier: Apache-2.0
// Open addressing; places of earlier bunches count as free, so that nothing is cleared.
#include "kvstore/used_variables.h"

#include <algorithm>
#include <utility>

namespace mxnet::kvstore {

UsedVariables::Use& UsedVariables::place(const Var* var) {
  const auto mixed =
      static_cast<std::size_t>(reinterpret_cast<uintptr_t>(var) * 11400714819323198485ULL >> 20);
  for (std::size_t at = mixed;; ++at) {
    Use& use = uses_[at & (uses_.size() - 1)];
    if (use.bunch != bunch_ || use.var == var) return use;
  }
}

UsedVariables::Use& UsedVariables::operator[](const Var* var) {
  if (2 * count_ >= uses_.size()) {
    const std::vector<Use> old =
        std::exchange(uses_, std::vector<Use>(std::max<std::size_t>(64, 2 * uses_.size())));
    for (const Use& use : old)
      if (use.bunch == bunch_) place(use.var) = use;
  }
  Use& use = place(var);
  if (use.bunch != bunch_) {
    use = {.var = var, .bunch = bunch_};
    ++count_;
  }
  return use;
}

}  // namespace mxnet::kvstore
