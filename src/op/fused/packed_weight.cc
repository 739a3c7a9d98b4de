// SPDX-License-Identifier: Apache-2.0
// Whether what is kept is still of the arrays that are given.
#include "op/fused/packed_weight.h"

#include "op/inline_vector.h"

namespace mxnet {

bool WeightKeeper::is_current(const KernelContext& context, std::span<const InputOrigin> origins,
                              std::span<const int> inputs) const {
  if (packed_ == nullptr) return false;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    const InputOrigin& now = origins[static_cast<std::size_t>(inputs[i])];
    // Without an array (computed in this run, or written by others) it is another one each time.
    if (now.array == nullptr || now.array != source.array || now.version != source.version ||
        context.in(inputs[i]).data != source.data)
      return false;
  }
  return true;
}

std::shared_ptr<const PackedWeight> WeightKeeper::get(const KernelContext& context,
                                                      std::span<const InputOrigin> origins,
                                                      std::span<const int> inputs,
                                                      const Pack& pack) {
  const MutexLock lock(mutex_);
  if (is_current(context, origins, inputs)) return packed_;
  packed_ = nullptr;  // its memory may serve the next
  sources_.clear();
  packed_ = pack();
  for (const int i : inputs) {
    const InputOrigin& origin = origins[static_cast<std::size_t>(i)];
    sources_.push_back({origin.array, context.in(i).data, origin.version,
                        origin.keep != nullptr ? origin.keep(origin.array) : nullptr});
  }
  return packed_;
}

std::shared_ptr<const PackedWeight> WeightKeeper::get(const KernelContext& context,
                                                      std::span<const InputOrigin> origins,
                                                      int first, const Pack& pack) {
  InlineVector<int, 12> inputs;
  for (int i = first; i < context.num_in(); ++i) inputs.push_back(i);
  return get(context, origins, inputs.span(), pack);
}

}  // namespace mxnet
