// SPDX-License-Identifier: Apache-2.0
// Executors whose arrays are made to fit: from the shapes of some arguments (simple_bind), and from
// another executor for other shapes (reshape).
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/executor.h"

namespace mxnet {

struct SimpleBind {
  Device device;
  std::map<std::string, Shape> shapes;  // of arguments or states; 0 or -1 already as unknown
  std::map<std::string, DType> dtypes;
  std::map<std::string, StorageType> storage_types;
  // By name; `default_request` for the others.
  std::map<std::string, Request> requests;
  Request default_request = Request::kWrite;
  // Arguments whose arrays are those of the shared executor.
  std::vector<std::string> shared_args;
  // Arrays by name that other executors have, or null: those large enough are used, others are made
  // and join. Gradients are kept as "grad of NAME".
  std::map<std::string, NDArray>* shared_buffer = nullptr;
  // Lends the memory of its activations; the arguments named above and, where any are named or
  // there is a buffer, its auxiliary states.
  const Executor* shared = nullptr;
  DeviceGroups groups;  // arrays of variables of a group are made on its device
  // Arrays by name that are taken as they are, or null.
  const std::map<std::string, NDArray>* given = nullptr;
};

// Throws Error(kValue) naming the arguments whose shapes do not follow from what is given.
std::unique_ptr<Executor> simple_bind(ir::Graph graph, const SimpleBind& options);

struct ReshapeOptions {
  std::map<std::string, Shape> shapes;
  bool partial_shaping = false;  // arguments that are not in `shapes` may change theirs too
  bool allow_up_sizing = false;  // arrays may need more memory than they have
};

// The graph of `from` for other shapes. Arrays share memory with the old ones where they are large
// enough, and so do activations.
std::unique_ptr<Executor> reshape(const Executor& from, const ReshapeOptions& options);

}  // namespace mxnet
