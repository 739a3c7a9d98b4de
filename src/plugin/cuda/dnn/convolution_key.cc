// SPDX-License-Identifier: Apache-2.0
// Lists come with their lengths, so that no two convolutions have the same numbers.
#include "plugin/cuda/dnn/convolution_key.h"

#include <bit>

namespace mxnet::cuda {
namespace {

class Numbers {
 public:
  explicit Numbers(PlanKey* key) : key_(*key) { key_.clear(); }
  template <class... Each>
  void add(Each... numbers) {
    (key_.push_back(static_cast<int64_t>(numbers)), ...);
  }
  void add_all(const std::vector<int64_t>& numbers) {
    add(numbers.size());
    key_.insert(key_.end(), numbers.begin(), numbers.end());
  }

 private:
  PlanKey& key_;
};

}  // namespace

void set_plan_key(const Convolution& convolution, const EnginePolicy& policy, PlanKey* key) {
  Numbers numbers(key);
  numbers.add(convolution.pass, convolution.dtype, convolution.channels_last, convolution.groups,
              convolution.bias, convolution.sum, convolution.activation.has_value());
  if (const auto& activation = convolution.activation)
    numbers.add(activation->kind, std::bit_cast<uint32_t>(activation->alpha),
                std::bit_cast<uint32_t>(activation->beta));
  for (const auto* sizes : {&convolution.data, &convolution.weight, &convolution.output,
                            &convolution.pad, &convolution.stride, &convolution.dilate})
    numbers.add_all(*sizes);
  numbers.add(policy.tensor_core, policy.down_conversion, policy.reduced_precision_reduction,
              policy.fft, policy.winograd, policy.deterministic, policy.autotune,
              policy.workspace_limit, policy.verbose);
  numbers.add_all(policy.disabled);
}

}  // namespace mxnet::cuda
