// SPDX-License-Identifier: Apache-2.0
// What the CPU multiplies fast, for those who do not call oneDNN.
#pragma once

namespace mxnet::onednn {

// Whether there are instructions for products of bfloat16 that oneDNN may use.
bool multiplies_bfloat16();

}  // namespace mxnet::onednn
