// SPDX-License-Identifier: Apache-2.0
// Arrays for the variables of a graph.
#include "exec/executor_bind.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "exec/storage_types.h"
#include "graph/infer.h"
#include "graph/infer_symbol.h"

namespace mxnet {
namespace {

NDArray zeros(const ArrayType& type, Device device, StorageType storage) {
  if (storage == StorageType::kRowSparse || storage == StorageType::kCSR)
    return NDArray(storage, type.shape, type.dtype, device);
  NDArray array(type.shape, type.dtype, device, "executor");
  fill_array("zeros_like", array);
  return array;
}

// Into the array itself: what lies behind it in its chunk is somebody else's.
bool fits(const NDArray& array, const ArrayType& type) {
  return !array.is_none() && !array.is_sparse() && array.dtype() == type.dtype &&
         array.size() >= type.shape.size();
}

// Finds or makes the arrays of one executor.
class ArrayMaker {
 public:
  ArrayMaker(const IndexedGraph& graph, const SimpleBind& options)
      : graph_(graph), options_(options) {
    if (options.given != nullptr) given_ = *options.given;
    if (options.shared == nullptr) return;
    const ExecutorArrays& arrays = options.shared->arrays();
    const IndexedGraph& shared = options.shared->graph();
    for (std::size_t i = 0; i < arrays.args.size(); ++i) {
      const std::string& name = shared.node(shared.arguments()[i]).name;
      shared_[name] = arrays.args[i];
      if (!arrays.grads[i].is_none()) shared_["grad of " + name] = arrays.grads[i];
    }
    for (std::size_t i = 0; i < arrays.aux.size(); ++i)
      shared_[shared.node(shared.auxiliary()[i]).name] = arrays.aux[i];
  }

  ExecutorArrays run(const std::vector<ArrayType>& types) {
    ExecutorArrays arrays;
    const VariableStorage storage = variable_storage();
    const auto stored = [&](int n) {
      const auto found = storage.find(&graph_.node(n));
      return found == storage.end() ? StorageType::kDense : found->second;
    };
    std::vector<int> differentiated;
    for (int n : graph_.arguments()) {
      const auto request = options_.requests.find(graph_.node(n).name);
      arrays.requests.push_back(request == options_.requests.end() ? options_.default_request
                                                                   : request->second);
      if (arrays.requests.back() != Request::kNull) differentiated.push_back(n);
    }
    const std::vector<StorageType> gradients =
        gradient_storage(graph_, differentiated, storage, options_.device);
    auto gradient = gradients.begin();
    for (std::size_t i = 0; i < arrays.requests.size(); ++i) {
      const int n = graph_.arguments()[i];
      const std::string& name = graph_.node(n).name;
      const ArrayType& type = types[static_cast<std::size_t>(graph_.first_entry(n))];
      device_ = device_of(graph_.node(n), options_.groups, options_.device);
      arrays.args.push_back(argument(name, name, type, stored(n)));
      arrays.grads.push_back(arrays.requests[i] == Request::kNull
                                 ? NDArray()
                                 : argument("grad of " + name, name, type, *gradient++));
    }
    // An executor alone lends the memory of its activations.
    const bool shares = options_.shared_buffer != nullptr || !options_.shared_args.empty();
    for (int n : graph_.auxiliary()) {
      const ArrayType& type = types[static_cast<std::size_t>(graph_.first_entry(n))];
      if (const auto given = given_.find(graph_.node(n).name); given != given_.end()) {
        arrays.aux.push_back(given->second);
        continue;
      }
      const auto found = shared_.find(graph_.node(n).name);
      const bool share = shares && found != shared_.end() && found->second.shape() == type.shape &&
                         found->second.dtype() == type.dtype;
      arrays.aux.push_back(
          share ? found->second
                : zeros(type, device_of(graph_.node(n), options_.groups, options_.device),
                        stored(n)));
    }
    return arrays;
  }

 private:
  // What the caller says goes before what the variables say of themselves.
  VariableStorage variable_storage() const {
    VariableStorage storage = told_storage(graph_);
    for (int n : graph_.variables()) {
      const auto given = options_.storage_types.find(graph_.node(n).name);
      if (given != options_.storage_types.end()) storage[&graph_.node(n)] = given->second;
    }
    return storage;
  }

  // The array called `key` of argument `name`.
  NDArray argument(const std::string& key, const std::string& name, const ArrayType& type,
                   StorageType storage) {
    if (const auto given = given_.find(key); given != given_.end()) return given->second;
    const std::vector<std::string>& shared = options_.shared_args;
    if (std::find(shared.begin(), shared.end(), name) != shared.end()) {
      const auto found = shared_.find(key);
      if (found != shared_.end()) {
        if (found->second.shape() == type.shape && found->second.dtype() == type.dtype)
          return found->second;
        throw Error(ErrorCode::kValue, "simple_bind",
                    fmt::format("given '{}' shared as {}, expected {}", name,
                                to_string(found->second.shape()), to_string(type.shape)));
      }
      return zeros(type, device_, storage);
    }
    if (options_.shared_buffer == nullptr || storage != StorageType::kDense)
      return zeros(type, device_, storage);
    NDArray& kept = (*options_.shared_buffer)[key];
    if (!fits(kept, type) || kept.device() != device_)
      kept = zeros(type, device_, StorageType::kDense);
    return kept.view_as(type.shape, type.dtype);
  }

  const IndexedGraph& graph_;
  const SimpleBind& options_;
  Device device_ = options_.device;        // of the argument at hand
  std::map<std::string, NDArray> shared_;  // of the shared executor
  std::map<std::string, NDArray> given_;
};

std::vector<ArrayType> infer_types(const IndexedGraph& graph,
                                   const std::map<std::string, Shape>& shapes,
                                   const std::map<std::string, DType>& dtypes) {
  KnownTypes known;
  for (int n : graph.variables()) {
    const std::string& name = graph.node(n).name;
    ArrayType type;
    if (const auto found = shapes.find(name); found != shapes.end()) type.shape = found->second;
    if (const auto found = dtypes.find(name); found != dtypes.end()) type.dtype = found->second;
    known.names.push_back(name);
    known.types.push_back(type);
  }
  // Variables may tell the shapes that the caller does not give.
  std::vector<ArrayType> types = infer_entries(graph, known, /*zero_is_known=*/false);
  if (!infer_graph(graph, &types)) {
    // Where nothing says otherwise, numbers are float32.
    for (int n : graph.variables()) {
      DType& dtype = types[static_cast<std::size_t>(graph.first_entry(n))].dtype;
      if (dtype == DType::kUnknown) dtype = DType::kFloat32;
    }
    infer_graph(graph, &types);
  }
  std::string unknown;
  for (int n : graph.variables()) {
    const ArrayType& type = types[static_cast<std::size_t>(graph.first_entry(n))];
    if (!type.complete())
      unknown += fmt::format("{}'{}' ({})", unknown.empty() ? "" : ", ", graph.node(n).name,
                             to_string(type.shape));
  }
  if (!unknown.empty()) {
    throw Error(ErrorCode::kValue, "simple_bind",
                fmt::format("given shapes from which those of {} do not follow, expected more of "
                            "them",
                            unknown));
  }
  return types;
}

}  // namespace

std::unique_ptr<Executor> simple_bind(ir::Graph graph, const SimpleBind& options) {
  const IndexedGraph indexed(graph);
  const std::vector<ArrayType> types = infer_types(indexed, options.shapes, options.dtypes);
  ExecutorArrays arrays = ArrayMaker(indexed, options).run(types);
  return std::make_unique<Executor>(
      std::move(graph), options.device, std::move(arrays),
      options.shared == nullptr ? Ref<Arena>() : options.shared->pool(), options.groups);
}

std::unique_ptr<Executor> reshape(const Executor& from, const ReshapeOptions& options) {
  const IndexedGraph& graph = from.graph();
  const ExecutorArrays& old = from.arrays();
  std::map<std::string, DType> dtypes;
  std::map<std::string, Shape> shapes = options.shapes;
  for (std::size_t i = 0; i < old.args.size(); ++i)
    dtypes[graph.node(graph.arguments()[i]).name] = old.args[i].dtype();
  for (std::size_t i = 0; i < old.aux.size(); ++i)
    dtypes[graph.node(graph.auxiliary()[i]).name] = old.aux[i].dtype();
  const std::vector<ArrayType> types = infer_types(graph, shapes, dtypes);

  ExecutorArrays arrays;
  arrays.requests = old.requests;
  const auto resized = [&](const NDArray& array, const ArrayType& type, const std::string& name) {
    if (array.is_none() || array.shape() == type.shape) return array;
    if (!options.partial_shaping && !options.shapes.contains(name)) {
      throw Error(ErrorCode::kValue, "reshape",
                  fmt::format("given shapes that change '{}' from {} to {}, expected "
                              "partial_shaping=True, or its new shape to be given",
                              name, to_string(array.shape()), to_string(type.shape)));
    }
    if (fits(array, type)) return array.view_as(type.shape, type.dtype);
    if (!options.allow_up_sizing) {
      throw Error(ErrorCode::kValue, "reshape",
                  fmt::format("given shape {} for '{}', more than the {} that it has memory for, "
                              "expected allow_up_sizing=True",
                              to_string(type.shape), name, to_string(array.shape())));
    }
    return zeros(type, array.device(), array.storage_type());
  };
  for (std::size_t i = 0; i < old.args.size(); ++i) {
    const int n = graph.arguments()[i];
    const ArrayType& type = types[static_cast<std::size_t>(graph.first_entry(n))];
    arrays.args.push_back(resized(old.args[i], type, graph.node(n).name));
    arrays.grads.push_back(resized(old.grads[i], type, graph.node(n).name));
  }
  for (std::size_t i = 0; i < old.aux.size(); ++i) {
    const int n = graph.auxiliary()[i];
    const ArrayType& type = types[static_cast<std::size_t>(graph.first_entry(n))];
    arrays.aux.push_back(resized(old.aux[i], type, graph.node(n).name));
  }
  return std::make_unique<Executor>(graph.graph(), from.device(), std::move(arrays), from.pool(),
                                    from.groups());
}

}  // namespace mxnet
