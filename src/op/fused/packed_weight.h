// SPDX-License-Identifier: Apache-2.0
// What a prepared kernel keeps of its weights: made once, and again when an array that it was made
// of has changed.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/lock.h"
#include "op/prepared_kernel.h"
#include "op/products/packed_floats.h"

namespace mxnet {

// Weights and bias as a primitive reads them.
struct PackedWeight {
  PackedWeight(std::size_t weight_bytes, std::size_t bias_bytes)
      : weight(weight_bytes), bias(bias_bytes) {}
  PackedFloats weight, bias;
};

// Thread-safe. Threads that need the same weights at the same time wait for the one that packs;
// callers with different arrays take turns at the price of packing.
class WeightKeeper {
 public:
  using Pack = std::function<std::shared_ptr<const PackedWeight>()>;
  // What is made of these inputs of the context.
  std::shared_ptr<const PackedWeight> get(const KernelContext& context,
                                          std::span<const InputOrigin> origins,
                                          std::span<const int> inputs, const Pack& pack);
  // The same of `first` and all behind it.
  std::shared_ptr<const PackedWeight> get(const KernelContext& context,
                                          std::span<const InputOrigin> origins, int first,
                                          const Pack& pack);

 private:
  struct Source {
    const void *array, *data;
    uint64_t version;
    std::shared_ptr<const void> kept;
  };
  bool is_current(const KernelContext& context, std::span<const InputOrigin> origins,
                  std::span<const int> inputs) const MX_REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<Source> sources_ MX_GUARDED_BY(mutex_);
  std::shared_ptr<const PackedWeight> packed_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet
