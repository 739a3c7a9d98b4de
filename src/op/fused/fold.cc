// SPDX-License-Identifier: Apache-2.0
// Scales and shifts of channels.
#include "op/fused/fold.h"

#include <algorithm>
#include <cmath>

namespace mxnet {

// y = (x * w + b - mean) * scale + beta = x * (w * scale) + ((b - mean) * scale + beta), rounded
// once each.
FoldedWeight::FoldedWeight(const FusedConvParams& params, const KernelContext& context, float* bias)
    : given_(context.in(params.weight_input())), weight_(given_.data()) {
  const auto channels = static_cast<std::size_t>(params.conv.num_filter);
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
  const auto size = static_cast<std::size_t>(context.in(params.weight_input()).size());
  const std::size_t row = size / channels;
  float* const scaled = scaled_.emplace(size * sizeof(float)).floats();
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale =
        (params.fix_gamma ? 1.0 : double{gamma[c]}) / std::sqrt(double{variance[c]} + params.eps);
    bias[c] = static_cast<float>((double{bias[c]} - double{mean[c]}) * scale + double{beta[c]});
    for (std::size_t i = c * row; i < (c + 1) * row; ++i)
      scaled[i] = static_cast<float>(double{weight_[i]} * scale);
  }
  weight_ = scaled;
}

}  // namespace mxnet
