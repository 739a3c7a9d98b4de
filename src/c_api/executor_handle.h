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

// Shapes by name out of the ABI's flat lists. With NumPy semantics -1 is an unknown dimension, else
// 0 is.
template <class Dim>
std::map<std::string, Shape> named_shapes(const char* function, uint32_t count, const char** names,
                                          const Dim* data, const uint32_t* index);

// New handles for the arrays of an executor; null for gradients that there are none of.
void return_arrays_of(const Executor& executor, uint32_t* num_args, NDArrayHandle** args,
                      NDArrayHandle** grads, uint32_t* num_aux, NDArrayHandle** aux);

// A context map: devices by the names of groups.
DeviceGroups device_groups(const char* function, uint32_t count, const char** keys,
                           const int* types, const int* ids);

}  // namespace mxnet::c_api
