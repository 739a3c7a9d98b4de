// SPDX-License-Identifier: Apache-2.0
// What a prepared kernel keeps of its weights: made once, and again when an array that it was made
// of has changed.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
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

// What tells ways of packing apart: of equal words the same arrays become the same bytes. The first
// says who packs. Empty: nobody else packs so.
using PackedForm = std::vector<int64_t>;
enum class PackedBy : int64_t { kConvolution, kWinograd, kDense, kFewRows, kDeconvolution, kLines };

// `lies`: where the elements lie, of which nothing is said if it is empty; `others`: what else the
// bytes depend on.
PackedForm packed_form(PackedBy by, const PackedForm& lies, const PackedForm& others);

// Thread-safe. Threads that need the same weights at the same time wait for the one that packs;
// callers with different arrays take turns at the price of packing. All plans of a network,
// whatever the shapes of its data, hold one copy of what they pack alike. What only plans hold that
// have not run since several others met the weight is given up, and packed again where one of them
// does run.
class WeightKeeper {
 public:
  // Plans that meet a weight before a form that none of those around has run with goes.
  static constexpr uint64_t kPlansRemembered = 8;

  WeightKeeper() = default;
  explicit WeightKeeper(PackedForm form) : form_(std::move(form)) {}

  using Pack = std::function<std::shared_ptr<const PackedWeight>()>;
  // What is made of these inputs of the context, the first of which is the weight.
  std::shared_ptr<const PackedWeight> get(const KernelContext& context,
                                          std::span<const InputOrigin> origins,
                                          std::span<const int> inputs, const Pack& pack);
  // The same of `first` and all behind it.
  std::shared_ptr<const PackedWeight> get(const KernelContext& context,
                                          std::span<const InputOrigin> origins, int first,
                                          const Pack& pack);

 private:
  struct Source;
  struct Kept;
  struct BesideWeight;
  std::shared_ptr<const PackedWeight> shared_or_packed(const KernelContext& context,
                                                       std::span<const InputOrigin> origins,
                                                       std::span<const int> inputs,
                                                       const Pack& pack) MX_REQUIRES(mutex_);

  const PackedForm form_;
  Mutex mutex_;
  std::shared_ptr<const Kept> kept_ MX_GUARDED_BY(mutex_);
  bool has_met_ MX_GUARDED_BY(mutex_) = false;  // a weight
};

}  // namespace mxnet
