// SPDX-License-Identifier: Apache-2.0
// Layers with what follows them as one node of a symbol, as 1.x writes them for oneDNN:
// _sg_mkldnn_conv, _sg_mkldnn_fully_connected, _sg_mkldnn_selfatt_qk, _sg_mkldnn_selfatt_valatt.
// Real ones stand for the graph that they carry; of quantized ones, attention does too, and
// layers run as an operator that only plans have.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace mxnet {

inline constexpr const char* kFusedConv = "_sg_mkldnn_conv";
inline constexpr const char* kFusedRows = "_sg_mkldnn_fully_connected";
inline constexpr const char* kFusedScores = "_sg_mkldnn_selfatt_qk";
inline constexpr const char* kFusedValues = "_sg_mkldnn_selfatt_valatt";

bool is_fused_layer(const ir::Node& node);
bool is_fused_attention(const ir::Node& node);
// Whether the node computes nothing but the one graph that it carries, on its inputs.
bool stands_for_graph(const ir::Node& node);
// What a quantized attention node computes, out of operators that have kernels; empty for others.
std::vector<ir::Entry> lowered_attention(const ir::Node& node);
// The operator that a quantized layer runs as; null for other nodes.
Ref<ir::Node> lowered_layer(const ir::Node& node);

}  // namespace mxnet
