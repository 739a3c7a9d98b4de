// SPDX-License-Identifier: Apache-2.0
// Networks as plain structures, and back.
#include "c_api/ext_graph.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "base/thread_end.h"
#include "graph/indexed_graph.h"
#include "graph/load.h"

namespace mxnet::c_api {
namespace {

constexpr int kDeepest = 64;  // graphs in graphs; as files may nest

std::string text_of(const char* text, const std::string& who, const char* what) {
  if (text == nullptr)
    throw Error(ErrorCode::kValue, who, fmt::format("given a node without {}", what));
  return text;
}

ir::SavedEntry entry_of(const MXExtEntry& entry, int32_t num_nodes, const std::string& who) {
  if (entry.node < 0 || entry.node >= num_nodes || entry.output < 0) {
    throw Error(ErrorCode::kValue, who,
                fmt::format("given output {} of node {}, expected a node below {}", entry.output,
                            entry.node, num_nodes));
  }
  return {entry.node, entry.output, 0};
}

ir::SavedGraph saved_of_ext(const MXExtGraph& graph, const std::string& who, int depth) {
  if (depth > kDeepest) throw Error(ErrorCode::kValue, who, "given graphs nested too deeply");
  ir::SavedGraph saved;
  for (int32_t n = 0; n < graph.num_nodes; ++n) {
    const MXExtNode& given = graph.nodes[n];
    ir::SavedNode& node = saved.nodes.emplace_back();
    node.op = text_of(given.op, who, "an operator");
    node.name = text_of(given.name, who, "a name");
    for (int32_t i = 0; i < given.attrs.count; ++i)
      node.attrs.emplace_back(text_of(given.attrs.keys[i], who, "a key"),
                              text_of(given.attrs.values[i], who, "a value"));
    // Only nodes before this one: there can be no cycle.
    for (int32_t i = 0; i < given.num_inputs; ++i)
      node.inputs.push_back(entry_of(given.inputs[i], n, who));
    for (int32_t s = 0; s < given.num_subgraphs; ++s)
      node.subgraphs.push_back(saved_of_ext(*given.subgraphs[s], who, depth + 1));
  }
  for (int32_t o = 0; o < graph.num_outputs; ++o)
    saved.heads.push_back(entry_of(graph.outputs[o], graph.num_nodes, who));
  saved.version = kSymbolFileVersion;
  return saved;
}

}  // namespace

ExtGraphView::ExtGraphView(const ir::Graph& graph, const GraphFacts& facts)
    : ExtGraphView(saved_of_symbol(Symbol(graph))) {
  if (!facts.types.empty()) add_types(graph, facts.types);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const auto known = facts.parameters.find(saved_.nodes[n].name);
    if (saved_.nodes[n].op != "null" || known == facts.parameters.end()) continue;
    NDArray& array = data_[n].parameter = known->second;
    data_[n].tensor = ext_tensor(array.data(), array.shape(), array.dtype(), array.device());
    nodes_[n].tensor = &data_[n].tensor;
  }
}

ExtGraphView::ExtGraphView(const ir::SavedGraph& graph) : saved_(graph), data_(graph.nodes.size()) {
  for (std::size_t n = 0; n < data_.size(); ++n) {
    const ir::SavedNode& from = saved_.nodes[n];
    Node& data = data_[n];
    for (const ir::SavedEntry& input : from.inputs)
      data.inputs.push_back({input.node, input.index});
    for (const auto& [key, value] : from.attrs) {
      data.keys.push_back(key.c_str());
      data.values.push_back(value.c_str());
    }
    for (const ir::SavedGraph& part : from.subgraphs) {
      data.parts.push_back(std::unique_ptr<ExtGraphView>(new ExtGraphView(part)));
      data.subgraphs.push_back(&data.parts.back()->get());
    }
    MXExtNode& node = nodes_.emplace_back();
    node = {};
    node.op = from.op.c_str();
    node.name = from.name.c_str();
    node.inputs = data.inputs.data();
    node.num_inputs = static_cast<int32_t>(data.inputs.size());
    node.attrs = {data.keys.data(), data.values.data(), static_cast<int32_t>(data.keys.size())};
    node.subgraphs = data.subgraphs.data();
    node.num_subgraphs = static_cast<int32_t>(data.subgraphs.size());
    node.num_outputs = saved_.node_row_ptr[n + 1] - saved_.node_row_ptr[n];
  }
  for (const ir::SavedEntry& head : saved_.heads) outputs_.push_back({head.node, head.index});
  graph_ = {nodes_.data(), static_cast<int32_t>(nodes_.size()), outputs_.data(),
            static_cast<int32_t>(outputs_.size())};
}

void ExtGraphView::add_types(const ir::Graph& graph, const std::vector<ArrayType>& types) {
  const IndexedGraph indexed(graph);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const int number = static_cast<int>(n);
    for (int o = 0; o < indexed.num_outputs(number); ++o) {
      const int entry = indexed.first_entry(number) + o;
      const auto& type = types[static_cast<std::size_t>(entry)];
      data_[n].shapes.push_back(ext_shape(type.shape));
      data_[n].dtypes.push_back(static_cast<int32_t>(type.dtype));
    }
    nodes_[n].num_outputs = indexed.num_outputs(number);
    nodes_[n].shapes = data_[n].shapes.data();
    nodes_[n].dtypes = data_[n].dtypes.data();
  }
}

Symbol symbol_of_ext(const MXExtGraph& graph, const std::string& who) {
  return symbol_of_saved(saved_of_ext(graph, who, 0));
}

MXExtShape ext_shape(const Shape& shape) {
  MXExtShape to{shape.rank_known() ? shape.ndim() : -1, {}};
  std::copy(shape.begin(), shape.end(), to.dims);
  return to;
}

Shape shape_of_ext(const MXExtShape& shape) {
  if (shape.ndim < 0) return {};
  if (shape.ndim > MX_EXT_MAX_DIMS) {
    throw Error(
        ErrorCode::kValue, "extension",
        fmt::format("given {} dimensions, expected at most {}", shape.ndim, MX_EXT_MAX_DIMS));
  }
  return Shape(std::span(shape.dims, static_cast<std::size_t>(shape.ndim)));
}

MXExtTensor ext_tensor(void* data, const Shape& shape, DType dtype, Device device) {
  return {data,
          shape.begin(),
          shape.ndim(),
          static_cast<int32_t>(dtype),
          device.type == DeviceType::kGPU ? 2 : 1,
          device.id};
}

int answer_extension(MXExtMessage* message, const std::function<void()>& body) noexcept {
  const auto say = [&](const char* text) {
    std::strncpy(message->text, text, sizeof(message->text) - 1);
    message->text[sizeof(message->text) - 1] = '\0';
  };
  try {
    or_stay(body);  // which may call the extension back
    return 0;
  } catch (const std::exception& error) {
    say(error.what());
  } catch (...) {
    say("unknown failure");
  }
  return -1;
}

}  // namespace mxnet::c_api
