// SPDX-License-Identifier: Apache-2.0
// Calibrated ranges as parameters of the nodes that quantize.
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <string_view>

#include "graph/passes.h"
#include "graph/quantize.h"
#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "graph/symbol_attributes.h"
#include "graph/symbol_node.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// The value whose range a node asks for; empty where it asks for none.
std::string calibrated_value(const ir::Node& node) {
  if (node.is_variable()) return {};
  check_inputs(node);
  const std::string& op = node.op->name();
  if (op == "_contrib_quantize_v2" || op == "_contrib_quantize_asym")
    return entry_name(node.inputs[0]);
  const auto behind = [&](std::string_view prefix) {
    const bool fits = std::string_view(node.name).substr(0, prefix.size()) == prefix;
    return fits ? node.name.substr(prefix.size()) + "_output" : std::string();
  };
  if (op == "_contrib_requantize") return behind("requantize_");
  if (op == "_contrib_quantized_batch_norm") return behind("quantized_");
  return {};
}

// As existing files have it, unless that would be another number.
std::string range_text(float end) {
  std::string text = fmt::format("{:f}", end);
  float read = 0;
  std::from_chars(text.data(), text.data() + text.size(), read);
  return read == end ? text : fmt::format("{}", end);
}

}  // namespace

ir::Graph with_ranges(const ir::Graph& graph, const std::vector<CalibratedRange>& ranges) {
  std::map<std::string_view, const CalibratedRange*> by_name;
  for (const CalibratedRange& range : ranges) by_name[range.name] = &range;
  const auto calibrate = [&](const ir::Node& original, const Ref<ir::Node>& node) -> Replacement {
    const std::string value = calibrated_value(original);
    const auto at = by_name.find(value);
    if (value.empty() || at == by_name.end()) return std::nullopt;
    Ref<ir::Node> changed = copy_node(*node);
    set_attr(changed.get(), "min_calib_range", range_text(at->second->min));
    set_attr(changed.get(), "max_calib_range", range_text(at->second->max));
    // uint8 would make all that is below zero zero.
    const std::string* type = find_attr(*changed, "out_type");
    if (type != nullptr && *type == "uint8" && at->second->min < 0)
      set_attr(changed.get(), "out_type", "int8");
    parse_node(changed.get());
    std::vector<ir::Entry> outputs;
    outputs.reserve(static_cast<std::size_t>(num_outputs(*changed)));
    for (int o = 0; o < num_outputs(*changed); ++o) outputs.push_back({changed, o, 0});
    return outputs;
  };
  return run_pass("calibrate", graph, configured_passes(),
                  [&](const ir::Graph& whole) { return rewrite(whole, calibrate); });
}

}  // namespace mxnet
