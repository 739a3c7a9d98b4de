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

// Lists of the ABI as they came.
struct RequestList {
  uint32_t count;
  const char **names, **words;
};
struct NumberList {
  uint32_t count;
  const char** names;
  const int* numbers;
};
struct NameList {
  uint32_t count;
  const char** names;
};
// In and out.
struct BufferList {
  int* count;
  const char** names;
  NDArrayHandle* arrays;
  const char*** out_names;
  NDArrayHandle** out_arrays;
};

// One word for all, a list in the order of the arguments, or words by name (others get none).
void take_requests(const char* function, const Symbol& symbol, const RequestList& list,
                   SimpleBind* options) {
  if (list.names == nullptr && list.count == 0) {
    if (list.words != nullptr) options->default_request = request_of(function, list.words[0]);
    return;
  }
  require(list.words, function, "provided_grad_req_types");
  options->default_request = Request::kNull;
  if (list.names != nullptr) {
    for (uint32_t i = 0; i < list.count; ++i) {
      require(list.names[i], function, "a name");
      options->requests[list.names[i]] = request_of(function, list.words[i]);
    }
    return;
  }
  const std::vector<std::string> args = symbol.list_inputs(Symbol::Inputs::kArguments);
  if (list.count != args.size()) {
    throw Error(ErrorCode::kValue, function,
                fmt::format("given {} gradient requests, expected {}", list.count, args.size()));
  }
  for (uint32_t i = 0; i < list.count; ++i)
    options->requests[args[i]] = request_of(function, list.words[i]);
}

// `use` sees each name and its number, where there are any.
template <class Use>
void for_each_named(const char* function, const NumberList& list, const char* what,
                    const Use& use) {
  for (uint32_t i = 0; i < list.count; ++i) {
    require(list.names, function, what);
    require(list.numbers, function, what);
    require(list.names[i], function, "a name");
    use(list.names[i], list.numbers[i]);
  }
}

// Arrays that executors share by name, in and out.
class SharedBuffer {
 public:
  SharedBuffer(const char* function, const BufferList& list) : list_(list) {
    if (list.count == nullptr || *list.count < 0) return;
    given_ = true;
    require(list.out_names, function, "updated_shared_buffer_name_list");
    require(list.out_arrays, function, "updated_shared_buffer_handle_list");
    if (*list.count > 0) {
      require(list.names, function, "shared_buffer_name_list");
      require(list.arrays, function, "shared_buffer_handle_list");
    }
    for (int i = 0; i < *list.count; ++i) {
      require(list.names[i], function, "a name");
      arrays_[list.names[i]] = array_of(list.arrays[i], function);
    }
  }
  std::map<std::string, NDArray>* arrays() { return given_ ? &arrays_ : nullptr; }

  void give_back() const {
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
    *list_.count = static_cast<int>(arrays_.size());
    *list_.out_names = returns.name_pointers.data();
    *list_.out_arrays = returns.buffer.data();
  }

 private:
  const BufferList list_;
  bool given_ = false;
  std::map<std::string, NDArray> arrays_;
};

void require_results(const char* function, const ExecutorResults& results) {
  for (const void* pointer :
       {static_cast<const void*>(results.num_args), static_cast<const void*>(results.args),
        static_cast<const void*>(results.grads), static_cast<const void*>(results.num_aux),
        static_cast<const void*>(results.aux), static_cast<const void*>(results.executor)})
    require(pointer, function, "a result");
}

// What simple_bind is given beside shapes, whose dimensions are of three widths.
struct BindLists {
  DeviceList groups;
  RequestList requests;
  NumberList dtypes, storage_types;
  NameList shared_args;
  BufferList shared_buffer;
};

template <class Dim>
int simple_bind_call(const char* function, SymbolHandle symbol_handle, DeviceNumbers device,
                     const ShapeList<Dim>& shapes, const BindLists& lists,
                     ExecutorHandle shared_exec, const ExecutorResults& results) {
  return guarded(function, [&] {
    const Symbol& symbol = symbol_of(symbol_handle, function);
    require_results(function, results);
    SimpleBind options;
    options.device = checked_device(function, device.type, device.id);
    options.groups = device_groups(function, lists.groups);
    take_requests(function, symbol, lists.requests, &options);
    options.shapes = named_shapes(function, shapes);
    for_each_named(function, lists.dtypes, "types", [&](const char* name, int t) {
      if (t >= 0) options.dtypes[name] = checked_dtype(function, t);
    });
    for_each_named(function, lists.storage_types, "storage types", [&](const char* name, int t) {
      if (const auto type = storage_type_from_number(t)) options.storage_types[name] = *type;
    });
    for (uint32_t i = 0; i < lists.shared_args.count; ++i) {
      require(lists.shared_args.names, function, "shared_arg_name_list");
      require(lists.shared_args.names[i], function, "a name");
      options.shared_args.emplace_back(lists.shared_args.names[i]);
    }
    options.shared = optional_executor(shared_exec, function);
    SharedBuffer buffer(function, lists.shared_buffer);
    options.shared_buffer = buffer.arrays();
    std::unique_ptr<Executor> executor = simple_bind(symbol.graph(), options);
    buffer.give_back();
    return_executor(std::move(executor), results);
  });
}

template <class Dim>
int reshape_call(const char* function, ReshapeOptions options, DeviceNumbers at,
                 const DeviceList& groups, const ShapeList<Dim>& shapes, ExecutorHandle shared_exec,
                 const ExecutorResults& results) {
  return guarded(function, [&] {
    const ExecutorPool::Use use = use_executor(shared_exec, function);
    const Executor& from = **use;
    const Device device = checked_device(function, at.type, at.id);
    if (device.is_gpu() != from.device().is_gpu() || (device.is_gpu() && device != from.device())) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given {}, expected the executor's device {}", to_string(device),
                              to_string(from.device())));
    }
    if (groups.count > 0 && !from.runs_in(device_groups(function, groups))) {
      throw Error(ErrorCode::kValue, function,
                  "given other groups than the executor has, expected the same or none");
    }
    require_results(function, results);
    options.shapes = named_shapes(function, shapes);
    return_executor(reshape(from, options), results);
  });
}

}  // namespace

// The three widths of shapes in one list of parameters.
#define MX_SIMPLE_BIND(Name, Dim)                                                                \
  int Name(SymbolHandle symbol_handle, int dev_type, int dev_id, const uint32_t num_g2c_keys,    \
           const char** g2c_keys, const int* g2c_dev_types, const int* g2c_dev_ids,              \
           const uint32_t provided_grad_req_list_len, const char** provided_grad_req_names,      \
           const char** provided_grad_req_types, const uint32_t num_provided_arg_shapes,         \
           const char** provided_arg_shape_names, const Dim* provided_arg_shape_data,            \
           const uint32_t* provided_arg_shape_idx, const uint32_t num_provided_arg_dtypes,       \
           const char** provided_arg_dtype_names, const int* provided_arg_dtypes,                \
           const uint32_t num_provided_arg_stypes, const char** provided_arg_stype_names,        \
           const int* provided_arg_stypes, const uint32_t num_shared_arg_names,                  \
           const char** shared_arg_name_list, int* shared_buffer_len,                            \
           const char** shared_buffer_name_list, NDArrayHandle* shared_buffer_handle_list,       \
           const char*** updated_shared_buffer_name_list,                                        \
           NDArrayHandle** updated_shared_buffer_handle_list, uint32_t* num_in_args,             \
           NDArrayHandle** in_args, NDArrayHandle** arg_grads, uint32_t* num_aux_states,         \
           NDArrayHandle** aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle* out) { \
    return simple_bind_call<Dim>(                                                                \
        #Name, symbol_handle, {dev_type, dev_id},                                                \
        {num_provided_arg_shapes, provided_arg_shape_names, provided_arg_shape_data,             \
         provided_arg_shape_idx},                                                                \
        {{num_g2c_keys, g2c_keys, g2c_dev_types, g2c_dev_ids},                                   \
         {provided_grad_req_list_len, provided_grad_req_names, provided_grad_req_types},         \
         {num_provided_arg_dtypes, provided_arg_dtype_names, provided_arg_dtypes},               \
         {num_provided_arg_stypes, provided_arg_stype_names, provided_arg_stypes},               \
         {num_shared_arg_names, shared_arg_name_list},                                           \
         {shared_buffer_len, shared_buffer_name_list, shared_buffer_handle_list,                 \
          updated_shared_buffer_name_list, updated_shared_buffer_handle_list}},                  \
        shared_exec_handle, {num_in_args, in_args, arg_grads, num_aux_states, aux_states, out}); \
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
    ReshapeOptions options;                                                                        \
    options.partial_shaping = partial_shaping != 0;                                                \
    options.allow_up_sizing = allow_up_sizing != 0;                                                \
    return reshape_call<Dim>(#Name, std::move(options), {dev_type, dev_id},                        \
                             {num_map_keys, map_keys, map_dev_types, map_dev_ids},                 \
                             {num_provided_arg_shapes, provided_arg_shape_names,                   \
                              provided_arg_shape_data, provided_arg_shape_idx},                    \
                             shared_exec,                                                          \
                             {num_in_args, in_args, arg_grads, num_aux_states, aux_states, out});  \
  }
MX_RESHAPE(MXExecutorReshape, uint32_t)
MX_RESHAPE(MXExecutorReshapeEx, int)
#undef MX_RESHAPE
