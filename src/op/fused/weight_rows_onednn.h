// SPDX-License-Identifier: Apache-2.0
// Which layouts of oneDNN weight_rows.h turns. Included by files called *_onednn.cc only.
#pragma once
#include <optional>

#include "op/fused/weight_rows.h"
#include "op/onednn/runtime.h"

namespace mxnet::onednn {

// None for other layouts.
std::optional<WeightSquares> weight_squares_of(const dnnl::memory::desc& weight);

}  // namespace mxnet::onednn
