// SPDX-License-Identifier: Apache-2.0
// Bodies run as cached ops do: compiled once for each combination of input types, recorded as one
// call.
#include "exec/graph_body.h"

#include <fmt/format.h>

#include "base/error.h"
#include "exec/cached_op.h"
#include "graph/infer.h"

namespace mxnet {

GraphBody::GraphBody(const ir::Graph& graph)
    : graph_(graph), op_(std::make_unique<CachedOp>(graph, CachedOpFlags{})) {}
GraphBody::~GraphBody() = default;

void GraphBody::infer(std::span<ArrayType> inputs, std::span<ArrayType> outputs) const {
  std::vector<ArrayType> types(static_cast<std::size_t>(graph_.num_entries()));
  const auto input = [&](std::size_t i) -> ArrayType& {
    return types[static_cast<std::size_t>(graph_.first_entry(graph_.variables()[i]))];
  };
  const auto output = [&](std::size_t o) -> ArrayType& {
    return types[static_cast<std::size_t>(graph_.outputs()[o])];
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) input(i) = inputs[i];
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    ArrayType& type = output(o);  // may be an input, or several outputs
    if (!type.shape.known()) type.shape = outputs[o].shape;
    if (type.dtype == DType::kUnknown) type.dtype = outputs[o].dtype;
  }
  infer_graph(graph_, &types);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = input(i);
  for (std::size_t o = 0; o < outputs.size(); ++o) outputs[o] = output(o);
}

std::vector<NDArray> GraphBody::run(std::span<NDArray* const> inputs, Device device) const {
  std::vector<NDArray> results(static_cast<std::size_t>(num_outputs()));
  std::vector<NDArray*> outputs;
  outputs.reserve(results.size());
  for (NDArray& result : results) outputs.push_back(&result);
  op_->invoke(inputs, outputs, device);
  return results;
}

void check_locations(const char* op, const char* name, std::span<const int64_t> locations,
                     int64_t count, int64_t limit) {
  bool fits = static_cast<int64_t>(locations.size()) == count;
  for (int64_t location : locations) fits = fits && location >= 0 && location < limit;
  if (fits) return;
  throw Error(ErrorCode::kValue, op,
              fmt::format("given {}=[{}], expected {} positions from 0 to {}", name,
                          fmt::join(locations, ", "), count, limit - 1));
}

ArrayType type_of(InferArg arg) { return {arg.shape(), arg.dtype()}; }

void learn(InferArg arg, const ArrayType& type) { arg.set_shape(type.shape).set_dtype(type.dtype); }

}  // namespace mxnet
