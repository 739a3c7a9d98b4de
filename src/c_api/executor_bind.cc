// SPDX-License-Identifier: Apache-2.0
// simple_bind and reshape: one body each for the widths of shapes.
#include <fmt/format.h>

#include "c_api/executor_handle.h"
#include "c_api/ndarray_handle.h"
#include "c_api/symbol_handle.h"
#include "ndarray/storage_type.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

Request request_of(const char* function, const char* text) {
  require(text, function, "a gradient request");
  const std::string_view word = text;
  if (word == "write" || word == "inplace") return Request::kWrite;
  if (word == "add") return Request::kAdd;
  if (word == "null") return Request::kNull;
  throw Error(ErrorCode::kValue, function,
              fmt::format("given gradient request '{}', expected write, add or null", word));
}

// One word for all, a list in the order of the arguments, or words by name (others get none).
void take_requests(const char* function, const Symbol& symbol, uint32_t count, const char** names,
                   const char** types, SimpleBind* options) {
  if (names == nullptr && count == 0) {
    if (types != nullptr) options->default_request = request_of(function, types[0]);
    return;
  }
  require(types, function, "provided_grad_req_types");
  options->default_request = Request::kNull;
  if (names != nullptr) {
    for (uint32_t i = 0; i < count; ++i) {
      require(names[i], function, "a name");
      options->requests[names[i]] = request_of(function, types[i]);
    }
    return;
  }
  const std::vector<std::string> args = symbol.list_inputs(Symbol::Inputs::kArguments);
  if (count != args.size()) {
    throw Error(ErrorCode::kValue, function,
                fmt::format("given {} gradient requests, expected {}", count, args.size()));
  }
  for (uint32_t i = 0; i < count; ++i) options->requests[args[i]] = request_of(function, types[i]);
}

// `use` sees each name and its number, where there are any.
template <class Use>
void for_each_named(const char* function, uint32_t count, const char** names, const int* numbers,
                    const char* what, const Use& use) {
  for (uint32_t i = 0; i < count; ++i) {
    require(names, function, what);
    require(numbers, function, what);
    require(names[i], function, "a name");
    use(names[i], numbers[i]);
  }
}

// Arrays that executors share by name, in and out.
class SharedBuffer {
 public:
  SharedBuffer(const char* function, const int* length, const char** names, NDArrayHandle* handles,
               const char*** updated_names, NDArrayHandle** updated_handles) {
    if (length == nullptr || *length < 0) return;
    given_ = true;
    require(updated_names, function, "updated_shared_buffer_name_list");
    require(updated_handles, function, "updated_shared_buffer_handle_list");
    if (*length > 0) {
      require(names, function, "shared_buffer_name_list");
      require(handles, function, "shared_buffer_handle_list");
    }
    for (int i = 0; i < *length; ++i) {
      require(names[i], function, "a name");
      arrays_[names[i]] = array_of(handles[i], function);
    }
  }
  std::map<std::string, NDArray>* arrays() { return given_ ? &arrays_ : nullptr; }

  void give_back(int* length, const char*** names, NDArrayHandle** handles) const {
    if (!given_) return;
    ExecutorReturns& returns = executor_returns();
    returns.names.clear();
    returns.name_pointers.clear();
    returns.buffer.clear();
    for (const auto& [name, array] : arrays_) {
      returns.names.push_back(name);
      returns.buffer.push_back(new_handle(array));
    }
    for (const std::string& name : returns.names) returns.name_pointers.push_back(name.c_str());
    *length = static_cast<int>(arrays_.size());
    *names = returns.name_pointers.data();
    *handles = returns.buffer.data();
  }

 private:
  bool given_ = false;
  std::map<std::string, NDArray> arrays_;
};

template <class Dim>
int simple_bind_call(const char* function, SymbolHandle symbol_handle, int dev_type, int dev_id,
                     uint32_t num_g2c_keys, const char** g2c_keys, const int* g2c_dev_types,
                     const int* g2c_dev_ids, uint32_t grad_req_len, const char** grad_req_names,
                     const char** grad_req_types, uint32_t num_shapes, const char** shape_names,
                     const Dim* shape_data, const uint32_t* shape_idx, uint32_t num_dtypes,
                     const char** dtype_names, const int* dtypes, uint32_t num_stypes,
                     const char** stype_names, const int* stypes, uint32_t num_shared_args,
                     const char** shared_args, int* shared_buffer_len,
                     const char** shared_buffer_names, NDArrayHandle* shared_buffer_handles,
                     const char*** updated_names, NDArrayHandle** updated_handles,
                     uint32_t* num_in_args, NDArrayHandle** in_args, NDArrayHandle** arg_grads,
                     uint32_t* num_aux_states, NDArrayHandle** aux_states,
                     ExecutorHandle shared_exec, ExecutorHandle* out) {
  return guarded([&] {
    const Symbol& symbol = symbol_of(symbol_handle, function);
    for (const void* pointer :
         {static_cast<const void*>(num_in_args), static_cast<const void*>(in_args),
          static_cast<const void*>(arg_grads), static_cast<const void*>(num_aux_states),
          static_cast<const void*>(aux_states), static_cast<const void*>(out)})
      require(pointer, function, "a result");
    SimpleBind options;
    options.device = checked_device(function, dev_type, dev_id);
    options.groups = device_groups(function, num_g2c_keys, g2c_keys, g2c_dev_types, g2c_dev_ids);
    take_requests(function, symbol, grad_req_len, grad_req_names, grad_req_types, &options);
    options.shapes = named_shapes(function, num_shapes, shape_names, shape_data, shape_idx);
    for_each_named(function, num_dtypes, dtype_names, dtypes, "types",
                   [&](const char* name, int t) {
                     if (t >= 0) options.dtypes[name] = checked_dtype(function, t);
                   });
    for_each_named(function, num_stypes, stype_names, stypes, "storage types",
                   [&](const char* name, int t) {
                     if (const auto type = storage_type_from_number(t))
                       options.storage_types[name] = *type;
                   });
    for (uint32_t i = 0; i < num_shared_args; ++i) {
      require(shared_args, function, "shared_arg_name_list");
      require(shared_args[i], function, "a name");
      options.shared_args.emplace_back(shared_args[i]);
    }
    options.shared = optional_executor(shared_exec, function);
    SharedBuffer buffer(function, shared_buffer_len, shared_buffer_names, shared_buffer_handles,
                        updated_names, updated_handles);
    options.shared_buffer = buffer.arrays();
    std::unique_ptr<Executor> executor = simple_bind(symbol.graph(), options);
    return_arrays_of(*executor, num_in_args, in_args, arg_grads, num_aux_states, aux_states);
    buffer.give_back(shared_buffer_len, updated_names, updated_handles);
    *out = executor_pool().create(std::move(executor));
  });
}

template <class Dim>
int reshape_call(const char* function, int partial_shaping, int allow_up_sizing, int dev_type,
                 int dev_id, uint32_t num_map_keys, const char** map_keys, const int* map_dev_types,
                 const int* map_dev_ids, uint32_t num_shapes, const char** shape_names,
                 const Dim* shape_data, const uint32_t* shape_idx, uint32_t* num_in_args,
                 NDArrayHandle** in_args, NDArrayHandle** arg_grads, uint32_t* num_aux_states,
                 NDArrayHandle** aux_states, ExecutorHandle shared_exec, ExecutorHandle* out) {
  return guarded([&] {
    const ExecutorPool::Use use = use_executor(shared_exec, function);
    const Executor& from = **use;
    const Device device = checked_device(function, dev_type, dev_id);
    if (device.is_gpu() != from.device().is_gpu() || (device.is_gpu() && device != from.device())) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given {}, expected the executor's device {}", to_string(device),
                              to_string(from.device())));
    }
    if (num_map_keys > 0 && !from.runs_in(device_groups(function, num_map_keys, map_keys,
                                                        map_dev_types, map_dev_ids))) {
      throw Error(ErrorCode::kValue, function,
                  "given other groups than the executor has, expected the same or none");
    }
    for (const void* pointer :
         {static_cast<const void*>(num_in_args), static_cast<const void*>(in_args),
          static_cast<const void*>(arg_grads), static_cast<const void*>(num_aux_states),
          static_cast<const void*>(aux_states), static_cast<const void*>(out)})
      require(pointer, function, "a result");
    ReshapeOptions options;
    options.shapes = named_shapes(function, num_shapes, shape_names, shape_data, shape_idx);
    options.partial_shaping = partial_shaping != 0;
    options.allow_up_sizing = allow_up_sizing != 0;
    std::unique_ptr<Executor> executor = reshape(from, options);
    return_arrays_of(*executor, num_in_args, in_args, arg_grads, num_aux_states, aux_states);
    *out = executor_pool().create(std::move(executor));
  });
}

}  // namespace

// The three widths of shapes in one list of parameters.
#define MX_SIMPLE_BIND(Name, Dim)                                                                  \
  int Name(SymbolHandle symbol_handle, int dev_type, int dev_id, const uint32_t num_g2c_keys,      \
           const char** g2c_keys, const int* g2c_dev_types, const int* g2c_dev_ids,                \
           const uint32_t provided_grad_req_list_len, const char** provided_grad_req_names,        \
           const char** provided_grad_req_types, const uint32_t num_provided_arg_shapes,           \
           const char** provided_arg_shape_names, const Dim* provided_arg_shape_data,              \
           const uint32_t* provided_arg_shape_idx, const uint32_t num_provided_arg_dtypes,         \
           const char** provided_arg_dtype_names, const int* provided_arg_dtypes,                  \
           const uint32_t num_provided_arg_stypes, const char** provided_arg_stype_names,          \
           const int* provided_arg_stypes, const uint32_t num_shared_arg_names,                    \
           const char** shared_arg_name_list, int* shared_buffer_len,                              \
           const char** shared_buffer_name_list, NDArrayHandle* shared_buffer_handle_list,         \
           const char*** updated_shared_buffer_name_list,                                          \
           NDArrayHandle** updated_shared_buffer_handle_list, uint32_t* num_in_args,               \
           NDArrayHandle** in_args, NDArrayHandle** arg_grads, uint32_t* num_aux_states,           \
           NDArrayHandle** aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle* out) {   \
    return simple_bind_call(                                                                       \
        #Name, symbol_handle, dev_type, dev_id, num_g2c_keys, g2c_keys, g2c_dev_types,             \
        g2c_dev_ids, provided_grad_req_list_len, provided_grad_req_names, provided_grad_req_types, \
        num_provided_arg_shapes, provided_arg_shape_names, provided_arg_shape_data,                \
        provided_arg_shape_idx, num_provided_arg_dtypes, provided_arg_dtype_names,                 \
        provided_arg_dtypes, num_provided_arg_stypes, provided_arg_stype_names,                    \
        provided_arg_stypes, num_shared_arg_names, shared_arg_name_list, shared_buffer_len,        \
        shared_buffer_name_list, shared_buffer_handle_list, updated_shared_buffer_name_list,       \
        updated_shared_buffer_handle_list, num_in_args, in_args, arg_grads, num_aux_states,        \
        aux_states, shared_exec_handle, out);                                                      \
  }
MX_SIMPLE_BIND(MXExecutorSimpleBind, uint32_t)
MX_SIMPLE_BIND(MXExecutorSimpleBindEx, int)
MX_SIMPLE_BIND(MXExecutorSimpleBindEx64, int64_t)
#undef MX_SIMPLE_BIND

#define MX_RESHAPE(Name, Dim)                                                                      \
  int Name(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,                     \
           uint32_t num_map_keys, const char** map_keys, const int* map_dev_types,                 \
           const int* map_dev_ids, const uint32_t num_provided_arg_shapes,                         \
           const char** provided_arg_shape_names, const Dim* provided_arg_shape_data,              \
           const uint32_t* provided_arg_shape_idx, uint32_t* num_in_args, NDArrayHandle** in_args, \
           NDArrayHandle** arg_grads, uint32_t* num_aux_states, NDArrayHandle** aux_states,        \
           ExecutorHandle shared_exec, ExecutorHandle* out) {                                      \
    return reshape_call(#Name, partial_shaping, allow_up_sizing, dev_type, dev_id, num_map_keys,   \
                        map_keys, map_dev_types, map_dev_ids, num_provided_arg_shapes,             \
                        provided_arg_shape_names, provided_arg_shape_data, provided_arg_shape_idx, \
                        num_in_args, in_args, arg_grads, num_aux_states, aux_states, shared_exec,  \
                        out);                                                                      \
  }
MX_RESHAPE(MXExecutorReshape, uint32_t)
MX_RESHAPE(MXExecutorReshapeEx, int)
#undef MX_RESHAPE
