// SPDX-License-Identifier: Apache-2.0
// Scales and shifts of channels.
#include "op/fused/fold.h"

#include <algorithm>
#include <cmath>

#include "op/fused/floats.h"

namespace mxnet {

// y = (x * w + b - mean) * scale + beta = x * (w * scale) + ((b - mean) * scale + beta), rounded
// once each.
FoldedWeight::FoldedWeight(const FusedConvParams& params, const KernelContext& context,
                           float* bias) {
  const Tensor& weight = context.in(params.weight_input());
  const auto channels = static_cast<std::size_t>(params.conv.num_filter);
  Floats weights(weight);
  weight_ = weights.data();
  scaled_ = weights.take();
  if (params.conv.no_bias) {
    std::fill_n(bias, channels, 0.0f);
  } else {
    std::copy_n(Floats(context.in(params.bias_input())).data(), channels, bias);
  }
  if (!params.batch_norm) return;
  const int n = params.gamma_input();
  const auto* gamma = context.in(n).as<float>();
  const auto* beta = context.in(n + 1).as<float>();
  const auto* mean = context.in(n + 2).as<float>();
  const auto* variance = context.in(n + 3).as<float>();
  scaled_.resize(static_cast<std::size_t>(weight.size()));
  const std::size_t row = scaled_.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale =
        (params.fix_gamma ? 1.0 : double{gamma[c]}) / std::sqrt(double{variance[c]} + params.eps);
    bias[c] = static_cast<float>((double{bias[c]} - double{mean[c]}) * scale + double{beta[c]});
    for (std::size_t i = c * row; i < (c + 1) * row; ++i)
      scaled_[i] = static_cast<float>(double{weight_[i]} * scale);
  }
  weight_ = scaled_.data();
}

}  // namespace mxnet
