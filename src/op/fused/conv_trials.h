// SPDX-License-Identifier: Apache-2.0
// Convolutions timed once: by Winograd's method with either tile, and directly. Choices are kept in
// the process and in a file (MXNET_ONEDNN_TRIALS), by layer, CPU and number of threads.
#pragma once
#include <string>

#include "op/nn/winograd.h"
#include "op/windows/conv_geometry.h"

namespace mxnet {

// The tile of the fastest, 0 for a direct convolution, which computes in `direct` (float32 or
// bfloat16). Thread-safe; the first call for a layer runs it some times on made-up numbers, and no
// other trial runs meanwhile.
int fastest_tile(const ConvGeometry& g, const WinogradDesc& desc, DType direct);

// Seconds of a direct convolution on blocked arrays; infinite where there is none.
double seconds_of_direct(const ConvGeometry& g, DType type, int threads);
double seconds_of_winograd(const WinogradDesc& desc, int threads);

// The layer as the file names it.
std::string trial_key(const WinogradDesc& desc, DType direct, int threads);

}  // namespace mxnet
