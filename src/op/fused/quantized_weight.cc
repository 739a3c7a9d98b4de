// SPDX-License-Identifier: Apache-2.0
// Both kinds of weights as bytes.
#include "op/fused/quantized_weight.h"

#include <algorithm>
#include <cmath>

#include "op/fused/fold.h"
#include "op/quantize/range.h"
#include "op/run/parallel.h"

namespace mxnet {

using quantize::kInt8;
using quantize::kWideInt8;

QuantizedWeight::QuantizedWeight(const QuantizedLayer& layer, const KernelContext& context) {
  if (layer.weight_in_bytes) {
    take_bytes(layer, context);
  } else {
    take_real(layer, context);
  }
}

// Bytes of parameters come from _contrib_quantize, which gives a range's end 127 steps.
void QuantizedWeight::take_bytes(const QuantizedLayer& layer, const KernelContext& context) {
  const auto channels = static_cast<std::size_t>(layer.channels());
  const int ends = layer.num_arrays() + 2;  // behind those of the data
  bytes = context.in(1).as<int8_t>();
  steps.assign(channels, quantize::read_range(context, ends, ends + 1).magnitude() / kInt8);
  bias.assign(channels, 0.0f);
  if (layer.no_bias()) return;
  const float step = quantize::read_range(context, ends + 2, ends + 3).magnitude() / kInt8;
  const int8_t* given = context.in(2).as<int8_t>();
  for (std::size_t c = 0; c < channels; ++c) bias[c] = static_cast<float>(given[c]) * step;
}

void QuantizedWeight::take_real(const QuantizedLayer& layer, const KernelContext& context) {
  const int64_t channels = layer.channels(), depth = context.in(1).size() / channels;
  FusedConvParams folding;
  folding.conv.num_filter = static_cast<uint32_t>(channels);
  folding.conv.no_bias = layer.no_bias();
  folding.batch_norm = layer.batch_norm;
  folding.fix_gamma = layer.fix_gamma;
  folding.eps = layer.eps;
  bias.resize(static_cast<std::size_t>(channels));
  steps.resize(static_cast<std::size_t>(channels));
  const FoldedWeight folded(folding, context, bias.data());
  int8_t* to = context.workspace_of<int8_t>(channels * depth);
  parallel_for(
      channels, 4.0 * static_cast<double>(depth),
      [&](int64_t first, int64_t last) {
        for (int64_t c = first; c < last; ++c) {
          const float* row = folded.weight() + c * depth;
          float magnitude = 0;
          for (int64_t i = 0; i < depth; ++i) magnitude = std::max(magnitude, std::fabs(row[i]));
          steps[static_cast<std::size_t>(c)] = magnitude / kWideInt8;
          const float factor = quantize::steps_per_unit(kWideInt8, magnitude);
          for (int64_t i = 0; i < depth; ++i)
            to[c * depth + i] = quantize::nearest<int8_t>(row[i] * factor);
        }
      },
      1);
  bytes = to;
}

}  // namespace mxnet
