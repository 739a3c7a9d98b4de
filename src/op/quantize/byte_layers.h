// SPDX-License-Identifier: Apache-2.0
// Convolutions and fully connected layers of bytes: exact int32 sums, which wrap around as int32
// does, by oneDNN where the processor has instructions for them, else by loops of our own.
#pragma once
#include <cstdint>

#include "op/kernel.h"
#include "op/quantize/window.h"

namespace mxnet::quantize {

struct ByteConvolution {
  Windows windows;
  int64_t groups, filters;  // filters of all groups

  int64_t depth() const { return windows.channels / groups * windows.kernel_size(); }
};

// `data` is int8 or uint8, channels first; `weight` has a row of depth() for each filter.
void convolve_bytes(const ByteConvolution& layer, const Tensor& data, const int8_t* weight,
                    int32_t* out, KernelContext& context);

// out[m][n] = data[m][k] * weight[n][k].
struct ByteRows {
  int64_t m, n, k;
};
void multiply_bytes(const ByteRows& layer, const Tensor& data, const int8_t* weight, int32_t* out,
                    KernelContext& context);

// Whether oneDNN's products of bytes are exact on this processor: those without instructions for
// them add pairs of products in 16 bits, where they saturate. Found out once, with the largest
// products there are.
bool onednn_bytes_are_exact();
// Whether no sum of so many products leaves int32.
bool sums_fit(int64_t depth);

// By oneDNN: false, and nothing done, where that would not be exact or has no fast implementation.
bool convolve_bytes_onednn(const ByteConvolution& layer, const Tensor& data, const int8_t* weight,
                           int32_t* out, KernelContext& context);
bool multiply_bytes_onednn(const ByteRows& layer, const Tensor& data, const int8_t* weight,
                           int32_t* out, KernelContext& context);

}  // namespace mxnet::quantize
