// SPDX-License-Identifier: Apache-2.0
// Which operators compute with 8-bit integers, and what their quantized nodes look like.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/node.h"
#include "op/params/param.h"

namespace mxnet {

// The quantized form of one node. Its inputs are those of the node, some of them in bytes, then the
// ends (least and greatest number) of each of these in turn.
struct QuantizedForm {
  const char* op = nullptr;
  // Takes over values that are quantized already, but nobody would quantize one for it.
  bool follows = false;
  bool wide_result = false;   // int32, to be brought to 8 bits
  bool needs_range = false;   // of its result, which is in 8 bits at once
  bool float_result = false;  // and so has no range
  // Instead of `op` where bytes may be uint8: takes and gives them alone, in the same range.
  const char* of_unsigned = nullptr;
  bool signed_data = false;    // is right of int8 alone
  int ones = -1;               // an input that counts as ones, whatever it holds
  std::vector<bool> in_bytes;  // for each input
  const char* quantizer = "_contrib_quantize_v2";
  Attrs attrs;  // besides those of the node
};

// Nothing where the node has none: operators that stay real, and parameters (activations, kinds of
// pooling, layouts) that no integer kernel takes. `channel_wise` leaves weights of fused layers
// real, which are then quantized for each channel of their own.
std::optional<QuantizedForm> quantized_form(const ir::Node& node, bool channel_wise);

}  // namespace mxnet
