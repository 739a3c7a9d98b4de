// SPDX-License-Identifier: Apache-2.0
// The backend MKLDNN_QUANTIZE: layers take over what follows them before a network is quantized,
// and their way back to bytes, or to real numbers, afterwards.
#pragma once
#include <string_view>

#include "ir/graph.h"

namespace mxnet {

inline bool is_quantize_backend(std::string_view name) {
  return name == "MKLDNN_QUANTIZE" || name == "ONEDNN_QUANTIZE";
}

// Applied to a network before and after it is quantized and calibrated; what is fused already stays
// as it is. Deterministic and linear; the graph given is not changed.
ir::Graph fuse_for_quantization(const ir::Graph& graph);

}  // namespace mxnet
