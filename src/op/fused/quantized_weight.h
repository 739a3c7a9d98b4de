// SPDX-License-Identifier: Apache-2.0
// Weights of a layer of bytes, from what the layer is given: bytes with one range, or real numbers
// with the normalisation behind them, which get a range for each channel.
#pragma once
#include <cstdint>
#include <vector>

#include "op/fused/quantized_layer.h"
#include "op/kernel.h"

namespace mxnet {

// Plain rows, one for each channel; they live as long as the context's arrays and workspace.
struct QuantizedWeight {
  QuantizedWeight(const QuantizedLayer& layer, const KernelContext& context);

  const int8_t* bytes = nullptr;
  std::vector<float> steps, bias;  // what a byte of each channel is worth, and real numbers

 private:
  void take_bytes(const QuantizedLayer& layer, const KernelContext& context);
  void take_real(const QuantizedLayer& layer, const KernelContext& context);
};

}  // namespace mxnet
