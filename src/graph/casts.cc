// SPDX-License-Identifier: Apache-2.0
// Passes over conversions of types.
#include "graph/casts.h"

#include "graph/rewrite.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

bool is_cast(const ir::Node& node) {
  return !node.is_variable() && (node.op->name() == "Cast" || node.op->name() == "amp_cast");
}

// Integers up to this many bits are exact in the type; 0 = an integer type.
int mantissa_bits(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 11;
    case DType::kBFloat16:
      return 8;
    case DType::kFloat32:
      return 24;
    case DType::kFloat64:
      return 53;
    default:
      return 0;
  }
}

int integer_bits(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
    case DType::kInt8:
      return 8;
    case DType::kInt32:
      return 32;
    case DType::kInt64:
      return 64;
    case DType::kBool:
      return 1;
    default:
      return 0;
  }
}

// Whether every value of `narrow` survives a trip through `wide`.
bool holds(DType wide, DType narrow) {
  if (wide == narrow) return true;
  const int wide_float = mantissa_bits(wide), narrow_float = mantissa_bits(narrow);
  if (narrow_float > 0) {
    // bfloat16 has the range of float32, which float16 has not.
    return wide == DType::kFloat64 || (wide == DType::kFloat32 && narrow_float < 24);
  }
  if (wide_float > 0) return wide_float >= integer_bits(narrow) && wide != DType::kBFloat16;
  if (narrow == DType::kBool) return true;
  if (wide == DType::kBool || wide == DType::kUInt8 || narrow == DType::kUInt8)
    return narrow == DType::kUInt8 && integer_bits(wide) > 8;
  return integer_bits(wide) > integer_bits(narrow);
}

}  // namespace

ir::Graph remove_amp_casts(const ir::Graph& graph) {
  return rewrite(graph, [](const ir::Node&, const Ref<ir::Node>& node) -> Replacement {
    if (node->is_variable()) return std::nullopt;
    const std::string& op = node->op->name();
    if (op != "amp_cast" && op != "amp_multicast") return std::nullopt;
    return node->inputs;
  });
}

ir::Graph remove_cast_pairs(const IndexedGraph& graph, const std::vector<ArrayType>& types) {
  const auto dtype = [&](const ir::Entry& entry) {
    return types[static_cast<std::size_t>(graph.entry(entry))].dtype;
  };
  return rewrite(graph.graph(),
                 [&](const ir::Node& second, const Ref<ir::Node>& node) -> Replacement {
                   if (!is_cast(second) || !is_cast(*second.inputs[0].node)) return std::nullopt;
                   const ir::Node& first = *second.inputs[0].node;
                   const DType narrow = dtype(first.inputs[0]), wide = dtype(second.inputs[0]);
                   const int out = graph.first_entry(graph.index_of(second));
                   if (narrow == DType::kUnknown ||
                       narrow != types[static_cast<std::size_t>(out)].dtype || !holds(wide, narrow))
                     return std::nullopt;
                   // The first cast may itself have been replaced: then its input stands where it
                   // stood.
                   const ir::Node& current = *node->inputs[0].node;
                   if (!is_cast(current)) return std::nullopt;
                   return std::vector<ir::Entry>{current.inputs[0]};
                 });
}

}  // namespace mxnet
