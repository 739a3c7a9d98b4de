// SPDX-License-Identifier: Apache-2.0
// ExecutorHandle and Executor, and the parts of a bind call that several functions take alike.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "c_api/guard.h"
#include "c_api/handle_pool.h"
#include "exec/executor_bind.h"
#include "mxnet/c_api.h"

namespace mxnet::c_api {

using ExecutorPool = HandlePool<std::unique_ptr<Executor>, Handles::kInTurns>;

inline ExecutorPool& executor_pool() {
  static constinit ExecutorPool pool("Executor");
  return pool;
}

// The executor, for this thread alone while the caller holds it: threads that use one at once take
// turns.
inline ExecutorPool::Use use_executor(ExecutorHandle handle, const char* function) {
  return executor_pool().use(handle, function);
}
// For calls that look at what never changes: graph, arrays, devices, memory. Null for a null
// handle.
inline const Executor* optional_executor(ExecutorHandle handle, const char* function) {
  return handle == nullptr ? nullptr : executor_pool().get(handle, function).get();
}

// What goes out through pointers and lives until the next call of the same kind on this thread.
struct ExecutorReturns {
  std::vector<NDArrayHandle> outputs, args, grads, aux, buffer;
  std::vector<std::string> names;
  std::vector<const char*> name_pointers;
};
ExecutorReturns& executor_returns();

// Parameters of the ABI that belong together, as they came: `count` says how many there are of
// each, and nothing of them has been checked.
template <class Dim>
struct ShapeList {
  uint32_t count;
  const char** names;
  const Dim* data;
  const uint32_t* index;
};
struct DeviceList {  // a context map: devices by the names of groups
  uint32_t count;
  const char** names;
  const int *types, *ids;
};
struct DeviceNumbers {
  int type, id;
};
struct ExecutorResults {
  uint32_t* num_args;
  NDArrayHandle **args, **grads;
  uint32_t* num_aux;
  NDArrayHandle** aux;
  ExecutorHandle* executor;
};

// With NumPy semantics -1 is an unknown dimension, else 0 is.
template <class Dim>
std::map<std::string, Shape> named_shapes(const char* function, const ShapeList<Dim>& list);

DeviceGroups device_groups(const char* function, const DeviceList& list);

// A new handle, and new ones for the executor's arrays; null for gradients that there are none of.
void return_executor(std::unique_ptr<Executor> executor, const ExecutorResults& results);

}  // namespace mxnet::c_api
