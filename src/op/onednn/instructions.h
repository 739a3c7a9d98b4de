// SPDX-License-Identifier: Apache-2.0
// What the CPU multiplies fast, for those who do not call oneDNN.
#pragma once

namespace mxnet::onednn {

// Whether there are instructions for products of bfloat16 that oneDNN may use.
bool multiplies_bfloat16();
// Whether matrix units (AMX) are among them: some 15 times the rate of float32 in vectors. oneDNN's
// kernels for them want channels behind instead of in blocks.
bool multiplies_bfloat16_in_tiles();

}  // namespace mxnet::onednn
