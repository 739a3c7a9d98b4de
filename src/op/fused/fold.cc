// SPDX-License-Identifier: Apache-2.0
// Scales and shifts of channels.
#include "op/fused/fold.h"

#include <algorithm>
#include <cmath>

#include "op/run/parallel.h"

namespace mxnet {

// y = (x * w + b - mean) * scale + beta = x * (w * scale) + ((b - mean) * scale + beta), rounded
// once each.
[[gnu::cold]] Folding::Folding(const FusedConvParams& params, const KernelContext& context,
                               float* bias)
    : given_(context.in(params.weight_input())) {
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
  scales_.resize(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale =
        (params.fix_gamma ? 1.0 : double{gamma[c]}) / std::sqrt(double{variance[c]} + params.eps);
    bias[c] = static_cast<float>((double{bias[c]} - double{mean[c]}) * scale + double{beta[c]});
    scales_[c] = scale;
  }
}

const float* Folding::multiplied(int64_t first, int64_t count, int64_t row, float* to) const {
  const float* const from = given() + first * row;
  if (scales() == nullptr) return from;
  const double* const by = scales() + first;
  parallel_for(count, static_cast<double>(row), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c)
      for (int64_t i = c * row; i < (c + 1) * row; ++i)
        to[i] = static_cast<float>(double{from[i]} * by[c]);
  });
  return to;
}

FoldedWeight::FoldedWeight(const FusedConvParams& params, const KernelContext& context, float* bias)
    : folding_(params, context, bias), weight_(folding_.given()) {
  if (folding_.scales() == nullptr) return;
  const int64_t channels = params.conv.num_filter;
  const int64_t size = context.in(params.weight_input()).size();
  float* const scaled = scaled_.emplace(static_cast<std::size_t>(size) * sizeof(float)).floats();
  weight_ = folding_.multiplied(0, channels, size / channels, scaled);
}

}  // namespace mxnet
