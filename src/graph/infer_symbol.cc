// SPDX-License-Identifier: Apache-2.0
// Types by name around infer_graph.
#include "graph/infer_symbol.h"

#include <fmt/format.h>

#include <charconv>
#include <unordered_map>

#include "base/error.h"
#include "graph/infer.h"
#include "graph/symbol_attributes.h"
#include "op/params/param_text.h"

namespace mxnet {
namespace {

[[noreturn]] void bad_attribute(const ir::Node& node, const char* key, const std::string& text,
                                const char* expected) {
  throw Error(ErrorCode::kValue, node.name,
              fmt::format("given attribute {} = '{}', expected {}", key, text, expected));
}

Shape shape_attr(const ir::Node& node, bool zero_is_known) {
  const std::string* text = find_attr(node, "__shape__");
  if (text == nullptr) return {};
  try {
    Shape shape = ParamText<Shape>::parse(*text);
    return zero_is_known ? shape : zero_as_unknown(std::move(shape));
  } catch (const ParamError&) {
    bad_attribute(node, "__shape__", *text, "a shape such as (2, 3)");
  }
}

DType dtype_attr(const ir::Node& node) {
  const std::string* text = find_attr(node, "__dtype__");
  if (text == nullptr) return DType::kUnknown;
  int number = 0;
  const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), number);
  const std::optional<DType> dtype = dtype_from_number(number);
  if (code == std::errc() && end == text->data() + text->size()) {
    if (number == -1) return DType::kUnknown;
    if (dtype) return *dtype;
  }
  bad_attribute(node, "__dtype__", *text, "the number of a type");
}

// What the caller knows of each variable, by its place in the graph.
class Assignment {
 public:
  Assignment(const IndexedGraph& graph, std::vector<ArrayType>* types)
      : graph_(graph), types_(*types) {}

  void by_position(const std::vector<ArrayType>& known) {
    if (known.size() > graph_.arguments().size()) {
      throw Error(ErrorCode::kValue, "infer",
                  fmt::format("given {} arguments, expected at most {}", known.size(),
                              graph_.arguments().size()));
    }
    for (std::size_t i = 0; i < known.size(); ++i) of(graph_.arguments()[i]) = known[i];
  }
  void by_name(const KnownTypes& known) {
    std::unordered_multimap<std::string_view, int> variables;  // names need not be unique
    for (int n : graph_.variables()) variables.emplace(graph_.node(n).name, n);
    for (std::size_t i = 0; i < known.names.size(); ++i) {
      const auto [first, last] = variables.equal_range(known.names[i]);
      if (first == last) no_such_argument(known.names[i]);
      for (auto at = first; at != last; ++at) {
        // A name may be given twice: once with a shape and once with a type.
        if (known.types[i].shape.rank_known()) of(at->second).shape = known.types[i].shape;
        if (known.types[i].dtype != DType::kUnknown) of(at->second).dtype = known.types[i].dtype;
      }
    }
  }
  // What nobody has said, variables may say themselves. A shape with unknown dimensions counts as
  // not said, as in 1.9.1: the variable's own takes its place as a whole.
  void by_attributes(bool zero_is_known) {
    for (int n : graph_.variables()) {
      ArrayType& type = of(n);
      if (!type.shape.known()) {
        const Shape own = shape_attr(graph_.node(n), zero_is_known);
        if (own.rank_known()) type.shape = own;
      }
      if (type.dtype == DType::kUnknown) type.dtype = dtype_attr(graph_.node(n));
    }
  }

 private:
  ArrayType& of(int variable) {
    return types_[static_cast<std::size_t>(graph_.first_entry(variable))];
  }
  [[noreturn]] void no_such_argument(std::string_view name) const {
    std::vector<std::string_view> known;
    known.reserve(graph_.variables().size());
    for (int n : graph_.variables()) known.push_back(graph_.node(n).name);
    throw Error(
        ErrorCode::kValue, "infer",
        fmt::format("given argument {}, expected one of: {}", name, fmt::join(known, ", ")));
  }

  const IndexedGraph& graph_;
  std::vector<ArrayType>& types_;
};

}  // namespace

Shape zero_as_unknown(Shape shape) {
  if (shape.ndim() == 0) return {};
  for (int i = 0; i < shape.ndim(); ++i)
    if (shape[i] == 0) shape[i] = Shape::kUnknownDim;
  return shape;
}

std::vector<ArrayType> infer_entries(const IndexedGraph& graph, const KnownTypes& known,
                                     bool zero_is_known) {
  std::vector<ArrayType> types(static_cast<std::size_t>(graph.num_entries()));
  Assignment assignment(graph, &types);
  if (known.names.empty()) {
    assignment.by_position(known.types);
  } else {
    assignment.by_name(known);
  }
  assignment.by_attributes(zero_is_known);
  infer_graph(graph, &types);
  return types;
}

SymbolTypes infer_symbol(const Symbol& symbol, const KnownTypes& known, bool zero_is_known) {
  const IndexedGraph graph(symbol.graph());
  const std::vector<ArrayType> types = infer_entries(graph, known, zero_is_known);
  SymbolTypes result;
  const auto type = [&](int entry) { return types[static_cast<std::size_t>(entry)]; };
  for (int n : graph.arguments()) result.arguments.push_back(type(graph.first_entry(n)));
  for (int n : graph.auxiliary()) result.auxiliary.push_back(type(graph.first_entry(n)));
  for (int entry : graph.outputs()) result.outputs.push_back(type(entry));
  result.shapes_complete = result.dtypes_complete = true;
  for (const ArrayType& t : types) {
    result.shapes_complete &= t.shape.known();
    result.dtypes_complete &= t.dtype != DType::kUnknown;
  }
  return result;
}

}  // namespace mxnet
