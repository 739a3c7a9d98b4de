// SPDX-License-Identifier: Apache-2.0
// Executors: binding to given arrays, running, looking at results.
#include <memory>

#include <fmt/format.h>

#include "base/numpy_shape.h"
#include "base/of_thread.h"
#include "c_api/executor_handle.h"
#include "c_api/ndarray_handle.h"
#include "c_api/symbol_handle.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace mxnet::c_api {

ExecutorReturns& executor_returns() { return of_thread<ExecutorReturns>(); }

template <class Dim>
std::map<std::string, Shape> named_shapes(const char* function, const ShapeList<Dim>& list) {
  std::map<std::string, Shape> shapes;
  if (list.count == 0) return shapes;
  require(list.names, function, "the names of shapes");
  require(list.index, function, "the index of shapes");
  const int64_t unknown = is_numpy_shape() ? -1 : 0;
  for (uint32_t i = 0; i < list.count; ++i) {
    const char* const name = list.names[i];
    require(name, function, "a name");
    const int64_t ndim = int64_t{list.index[i + 1]} - int64_t{list.index[i]};
    if (ndim < 0 || ndim > Shape::kMaxDims) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given {} dimensions for '{}', expected 0 to {}", ndim, name,
                              Shape::kMaxDims));
    }
    if (ndim > 0) require(list.data, function, "the dimensions of shapes");
    Shape shape(static_cast<int>(ndim), 0);
    for (int d = 0; d < shape.ndim(); ++d) {
      const auto dim = static_cast<int64_t>(list.data[list.index[i] + static_cast<uint32_t>(d)]);
      shape[d] = dim == unknown || dim < 0 ? Shape::kUnknownDim : dim;
    }
    // Without NumPy semantics a shape without dimensions is one that nobody knows.
    shapes[name] = ndim == 0 && !is_numpy_shape() ? Shape() : shape;
  }
  return shapes;
}
template std::map<std::string, Shape> named_shapes(const char*, const ShapeList<uint32_t>&);
template std::map<std::string, Shape> named_shapes(const char*, const ShapeList<int>&);
template std::map<std::string, Shape> named_shapes(const char*, const ShapeList<int64_t>&);

DeviceGroups device_groups(const char* function, const DeviceList& list) {
  DeviceGroups groups;
  for (uint32_t i = 0; i < list.count; ++i) {
    require(list.names, function, "map_keys");
    require(list.names[i], function, "a name");
    require(list.types, function, "map_dev_types");
    require(list.ids, function, "map_dev_ids");
    groups[list.names[i]] = checked_device(function, list.types[i], list.ids[i]);
  }
  return groups;
}

void return_executor(std::unique_ptr<Executor> executor, const ExecutorResults& results) {
  ExecutorReturns& returns = executor_returns();
  const auto fill = [](const std::vector<NDArray>& arrays, std::vector<NDArrayHandle>* handles) {
    handles->clear();
    for (const NDArray& array : arrays)
      handles->push_back(array.is_none() ? nullptr : new_handle(array));
  };
  fill(executor->arrays().args, &returns.args);
  fill(executor->arrays().grads, &returns.grads);
  fill(executor->arrays().aux, &returns.aux);
  *results.num_args = static_cast<uint32_t>(returns.args.size());
  *results.args = returns.args.data();
  *results.grads = returns.grads.data();
  *results.num_aux = static_cast<uint32_t>(returns.aux.size());
  *results.aux = returns.aux.data();
  *results.executor = executor_pool().create(std::move(executor));
}

}  // namespace mxnet::c_api

namespace {

std::vector<NDArray> arrays_of(const char* function, uint32_t count, NDArrayHandle* handles,
                               bool may_be_null) {
  std::vector<NDArray> arrays;
  for (uint32_t i = 0; i < count; ++i) {
    require(handles, function, "an array of handles");
    arrays.push_back(handles[i] == nullptr && may_be_null ? NDArray()
                                                          : array_of(handles[i], function));
  }
  return arrays;
}

Request checked_request(const char* function, uint32_t number) {
  if (number > 3) {
    throw Error(ErrorCode::kValue, function,
                fmt::format("given gradient request {}, expected 0 (null), 1 (write), 2 (in-place "
                            "write) or 3 (add)",
                            number));
  }
  return number == 2 ? Request::kWrite : static_cast<Request>(number);
}

// The arrays to bind to, as they came; of the gradients any may be null, and all.
struct GivenArrays {
  uint32_t num_args;
  NDArrayHandle *args, *grads;
  uint32_t* requests;
  uint32_t num_aux;
  NDArrayHandle* aux;
};

void bind(const char* function, SymbolHandle symbol, DeviceNumbers at, const DeviceList& map,
          const GivenArrays& given, ExecutorHandle shared_exec, ExecutorHandle* out) {
  require(out, function, "out");
  const Device device = checked_device(function, at.type, at.id);
  DeviceGroups groups = device_groups(function, map);
  ExecutorArrays arrays;
  arrays.args = arrays_of(function, given.num_args, given.args, false);
  arrays.aux = arrays_of(function, given.num_aux, given.aux, false);
  arrays.grads = given.grads == nullptr ? std::vector<NDArray>(given.num_args)
                                        : arrays_of(function, given.num_args, given.grads, true);
  for (uint32_t i = 0; i < given.num_args; ++i) {
    require(given.requests, function, "grad_req_type");
    arrays.requests.push_back(
        arrays.grads[i].is_none() ? Request::kNull : checked_request(function, given.requests[i]));
  }
  const Executor* shared = optional_executor(shared_exec, function);
  auto executor = std::make_unique<Executor>(
      symbol_of(symbol, function).graph(), device, std::move(arrays),
      shared == nullptr ? Ref<Arena>() : shared->pool(), std::move(groups));
  *out = executor_pool().create(std::move(executor));
}

void backward(const char* function, ExecutorHandle handle, uint32_t len, NDArrayHandle* head_grads,
              bool training) {
  const ExecutorPool::Use executor = use_executor(handle, function);
  std::vector<const NDArray*> heads;
  heads.reserve(len);
  for (uint32_t i = 0; i < len; ++i) {
    require(head_grads, function, "head_grads");
    heads.push_back(&array_of(head_grads[i], function));
  }
  (*executor)->backward(heads, training);
}

void set_monitor(const char* function, ExecutorHandle handle, ExecutorMonitorCallback callback,
                 void* callback_handle, bool all) {
  const ExecutorPool::Use executor = use_executor(handle, function);
  if (callback == nullptr) return (*executor)->set_monitor({}, false);
  (*executor)->set_monitor(
      // The array belongs to the callee.
      [callback, callback_handle](const std::string& name, const NDArray& value) {
        callback(name.c_str(), new_handle(value.detach()), callback_handle);
      },
      all);
}

}  // namespace

int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t len,
                   NDArrayHandle* in_args, NDArrayHandle* arg_grad_store, uint32_t* grad_req_type,
                   uint32_t aux_states_len, NDArrayHandle* aux_states, ExecutorHandle* out) {
  return guarded([&] {
    bind("MXExecutorBind", symbol_handle, {dev_type, dev_id}, {},
         {len, in_args, arg_grad_store, grad_req_type, aux_states_len, aux_states}, nullptr, out);
  });
}

int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                    const char** map_keys, const int* map_dev_types, const int* map_dev_ids,
                    uint32_t len, NDArrayHandle* in_args, NDArrayHandle* arg_grad_store,
                    uint32_t* grad_req_type, uint32_t aux_states_len, NDArrayHandle* aux_states,
                    ExecutorHandle* out) {
  return guarded([&] {
    bind("MXExecutorBindX", symbol_handle, {dev_type, dev_id},
         {num_map_keys, map_keys, map_dev_types, map_dev_ids},
         {len, in_args, arg_grad_store, grad_req_type, aux_states_len, aux_states}, nullptr, out);
  });
}

int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                     const char** map_keys, const int* map_dev_types, const int* map_dev_ids,
                     uint32_t len, NDArrayHandle* in_args, NDArrayHandle* arg_grad_store,
                     uint32_t* grad_req_type, uint32_t aux_states_len, NDArrayHandle* aux_states,
                     ExecutorHandle shared_exec, ExecutorHandle* out) {
  return guarded([&] {
    bind("MXExecutorBindEX", symbol_handle, {dev_type, dev_id},
         {num_map_keys, map_keys, map_dev_types, map_dev_ids},
         {len, in_args, arg_grad_store, grad_req_type, aux_states_len, aux_states}, shared_exec,
         out);
  });
}

int MXExecutorFree(ExecutorHandle handle) {
  return guarded([&] { executor_pool().destroy(handle, "MXExecutorFree"); });
}

int MXExecutorForward(ExecutorHandle handle, int is_train) {
  return guarded([&] { (*use_executor(handle, "MXExecutorForward"))->forward(is_train != 0); });
}

int MXExecutorBackwardEx(ExecutorHandle handle, uint32_t len, NDArrayHandle* head_grads,
                         int is_train) {
  return guarded([&] { backward("MXExecutorBackwardEx", handle, len, head_grads, is_train != 0); });
}

int MXExecutorBackward(ExecutorHandle handle, uint32_t len, NDArrayHandle* head_grads) {
  return guarded([&] { backward("MXExecutorBackward", handle, len, head_grads, true); });
}

int MXExecutorOutputs(ExecutorHandle handle, uint32_t* out_size, NDArrayHandle** out) {
  return guarded([&] {
    const ExecutorPool::Use executor = use_executor(handle, "MXExecutorOutputs");
    require(out_size, "MXExecutorOutputs", "out_size");
    require(out, "MXExecutorOutputs", "out");
    std::vector<NDArrayHandle>& handles = executor_returns().outputs;
    handles.clear();
    for (const NDArray& array : (*executor)->outputs()) {
      // Before the first run, a result whose shape follows from values: front ends ask every array
      // for its kind, and ask for the outputs again after the run.
      handles.push_back(
          new_handle(array.is_none() ? NDArray(Shape{0}, DType::kFloat32, Device{}) : array));
    }
    *out_size = static_cast<uint32_t>(handles.size());
    *out = handles.data();
  });
}

int MXExecutorPrint(ExecutorHandle handle, const char** out_str) {
  return guarded([&] {
    require(out_str, "MXExecutorPrint", "out_str");
    *out_str = keep_for_caller((*use_executor(handle, "MXExecutorPrint"))->debug_str());
  });
}

int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle* out) {
  return guarded([&] {
    const ExecutorPool::Use executor = use_executor(handle, "MXExecutorGetOptimizedSymbol");
    require(out, "MXExecutorGetOptimizedSymbol", "out");
    *out = new_handle(Symbol((*executor)->optimized_graph()));
  });
}

int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                   void* callback_handle, bool monitor_all) {
  return guarded([&] {
    set_monitor("MXExecutorSetMonitorCallbackEX", handle, callback, callback_handle, monitor_all);
  });
}

int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                 void* callback_handle) {
  return guarded([&] {
    set_monitor("MXExecutorSetMonitorCallback", handle, callback, callback_handle, false);
  });
}
