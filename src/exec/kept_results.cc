// SPDX-License-Identifier: Apache-2.0
// Versions count writes of the engine, whoever asked for them.
#include "exec/kept_results.h"

#include "engine/engine.h"

namespace mxnet {

KeptResults::KeptResults(const Plan& plan) : sources_(plan.memory().kept.size()) {
  for (int k = 0; k < static_cast<int>(sources_.size()); ++k) {
    const ArrayType& type = plan.kept_type(k);
    arrays_.emplace_back(type.shape, type.dtype, plan.options().device, "kept weights");
  }
}

bool KeptResults::is_current(int kept, std::span<const NDArray> inputs) const {
  const std::vector<Source>& sources = sources_[static_cast<std::size_t>(kept)];
  if (sources.size() != inputs.size()) return false;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const NDArray& array = sources[i].array;
    if (inputs[i].var() != array.var() || inputs[i].data() != array.data() ||
        Engine::get().version(array.var()) != sources[i].version)
      return false;
  }
  return true;
}

void KeptResults::computed(int kept, std::span<const NDArray> inputs) {
  for (const NDArray& input : inputs)
    sources_[static_cast<std::size_t>(kept)].push_back({input, Engine::get().version(input.var())});
}

}  // namespace mxnet
