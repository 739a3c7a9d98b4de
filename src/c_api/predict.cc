// SPDX-License-Identifier: Apache-2.0
// The predict API.
#include <fmt/format.h>

#include <span>

#include "base/numpy_shape.h"
#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "c_api/symbol_handle.h"
#include "exec/predictor.h"
#include "graph/load.h"
#include "mxnet/c_predict_api.h"
#include "ndarray/byte_source.h"
#include "ndarray/load.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

using PredictorPool = HandlePool<std::unique_ptr<Predictor>, Handles::kInTurns>;

PredictorPool& predictor_pool() {
  static constinit PredictorPool pool("Predictor");
  return pool;
}

// The predictor, for this thread alone while the caller holds it.
PredictorPool::Use use_predictor(PredictorHandle handle, const char* function) {
  return predictor_pool().use(handle, function);
}

// Parameters of the ABI that belong together, as they came: nothing of them has been checked.
struct GivenModel {
  const char* json;
  const void* param_bytes;
  int param_size, dev_type, dev_id;
};
struct PredictInputs {
  uint32_t count;
  const char** keys;
  const uint32_t *indptr, *data;
};

// "arg:fc1_weight" and "aux:bn_moving_mean"; names without prefix are taken as they are.
std::map<std::string, NDArray> load_parameters(const char* function, const void* bytes, int size,
                                               Device device) {
  std::map<std::string, NDArray> parameters;
  if (size == 0) return parameters;
  require(bytes, function, "param_bytes");
  if (size < 0)
    throw Error(ErrorCode::kValue, function, fmt::format("given {} bytes of parameters", size));
  BufferSource source(bytes, static_cast<std::size_t>(size), "parameters");
  LoadedArrays loaded = load_arrays(source, numpy_shape());
  for (std::size_t i = 0; i < loaded.names.size(); ++i) {
    std::string name = loaded.names[i];
    if (name.starts_with("arg:") || name.starts_with("aux:")) name.erase(0, 4);
    const NDArray& array = loaded.arrays[i];
    parameters[name] = device.is_gpu() ? array.copy(device) : array;
  }
  return parameters;
}

std::map<std::string, Shape> input_shapes(const char* function, const PredictInputs& list) {
  std::map<std::string, Shape> shapes;
  if (list.count == 0) return shapes;
  require(list.keys, function, "input_keys");
  require(list.indptr, function, "input_shape_indptr");
  for (uint32_t i = 0; i < list.count; ++i) {
    require(list.keys[i], function, "a key");
    const int64_t ndim = int64_t{list.indptr[i + 1]} - int64_t{list.indptr[i]};
    const uint32_t* dims = list.data == nullptr ? nullptr : list.data + list.indptr[i];
    shapes[list.keys[i]] = checked_shape(function, dims, ndim);
  }
  return shapes;
}

std::vector<PredictorHandle> create(const char* function, const GivenModel& given,
                                    const std::vector<std::string>& output_keys,
                                    const std::map<std::string, Shape>& shapes,
                                    const std::map<std::string, DType>& dtypes, int count) {
  require(given.json, function, "symbol_json_str");
  auto model = std::make_shared<PredictModel>();
  model->device = checked_device(function, given.dev_type, given.dev_id);
  model->graph = load_symbol(given.json).graph();
  if (!output_keys.empty()) model->graph = partial_graph(model->graph, output_keys);
  model->parameters = load_parameters(function, given.param_bytes, given.param_size, model->device);
  std::vector<std::unique_ptr<Predictor>> made;
  made.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    made.push_back(std::make_unique<Predictor>(model, shapes, dtypes));
  std::vector<PredictorHandle> handles;
  handles.reserve(made.size());
  for (std::unique_ptr<Predictor>& predictor : made)
    handles.push_back(predictor_pool().create(std::move(predictor)));
  return handles;
}

// The arrays of a file, and what of them goes out through pointers.
struct NamedArrays {
  std::vector<std::string> names;
  std::vector<std::vector<float>> values;
  std::vector<std::vector<uint32_t>> shapes;
};
HandlePool<std::unique_ptr<NamedArrays>>& nd_list_pool() {
  static constinit HandlePool<std::unique_ptr<NamedArrays>> pool("NDList");
  return pool;
}

int create_with_outputs(const char* function, const GivenModel& given, const PredictInputs& inputs,
                        uint32_t num_outputs, const char** output_keys, PredictorHandle* out) {
  return guarded(function, [&] {
    require(out, function, "out");
    std::vector<std::string> outputs;
    for (uint32_t i = 0; i < num_outputs; ++i) {
      require(output_keys, function, "output_keys");
      require(output_keys[i], function, "a key");
      outputs.emplace_back(output_keys[i]);
    }
    *out = create(function, given, outputs, input_shapes(function, inputs), {}, 1)[0];
  });
}

}  // namespace

int MXPredCreateEx(const char* symbol_json_str, const void* param_bytes, int param_size,
                   int dev_type, int dev_id, const uint32_t num_input_nodes,
                   const char** input_keys, const uint32_t* input_shape_indptr,
                   const uint32_t* input_shape_data, const uint32_t num_provided_arg_dtypes,
                   const char** provided_arg_dtype_names, const int* provided_arg_dtypes,
                   PredictorHandle* out) {
  return guarded([&] {
    const char* const function = "MXPredCreateEx";
    require(out, function, "out");
    std::map<std::string, DType> dtypes;
    for (uint32_t i = 0; i < num_provided_arg_dtypes; ++i) {
      require(provided_arg_dtype_names, function, "provided_arg_dtype_names");
      require(provided_arg_dtypes, function, "provided_arg_dtypes");
      require(provided_arg_dtype_names[i], function, "a name");
      dtypes[provided_arg_dtype_names[i]] = checked_dtype(function, provided_arg_dtypes[i]);
    }
    *out = create(
        function, {symbol_json_str, param_bytes, param_size, dev_type, dev_id}, {},
        input_shapes(function, {num_input_nodes, input_keys, input_shape_indptr, input_shape_data}),
        dtypes, 1)[0];
  });
}

int MXPredCreate(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type,
                 int dev_id, uint32_t num_input_nodes, const char** input_keys,
                 const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                 PredictorHandle* out) {
  return create_with_outputs(
      "MXPredCreate", {symbol_json_str, param_bytes, param_size, dev_type, dev_id},
      {num_input_nodes, input_keys, input_shape_indptr, input_shape_data}, 0, nullptr, out);
}

int MXPredCreatePartialOut(const char* symbol_json_str, const void* param_bytes, int param_size,
                           int dev_type, int dev_id, uint32_t num_input_nodes,
                           const char** input_keys, const uint32_t* input_shape_indptr,
                           const uint32_t* input_shape_data, uint32_t num_output_nodes,
                           const char** output_keys, PredictorHandle* out) {
  return create_with_outputs("MXPredCreatePartialOut",
                             {symbol_json_str, param_bytes, param_size, dev_type, dev_id},
                             {num_input_nodes, input_keys, input_shape_indptr, input_shape_data},
                             num_output_nodes, output_keys, out);
}

int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes, int param_size,
                            int dev_type, int dev_id, uint32_t num_input_nodes,
                            const char** input_keys, const uint32_t* input_shape_indptr,
                            const uint32_t* input_shape_data, int num_threads,
                            PredictorHandle* out) {
  return guarded([&] {
    const char* const function = "MXPredCreateMultiThread";
    require(out, function, "out");
    if (num_threads < 1)
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given {} threads, expected at least 1", num_threads));
    const std::vector<PredictorHandle> handles = create(
        function, {symbol_json_str, param_bytes, param_size, dev_type, dev_id}, {},
        input_shapes(function, {num_input_nodes, input_keys, input_shape_indptr, input_shape_data}),
        {}, num_threads);
    std::copy(handles.begin(), handles.end(), out);
  });
}

int MXPredReshape(uint32_t num_input_nodes, const char** input_keys,
                  const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                  PredictorHandle handle, PredictorHandle* out) {
  return guarded([&] {
    const char* const function = "MXPredReshape";
    require(out, function, "out");
    const PredictorPool::Use use = use_predictor(handle, function);
    const Predictor& from = **use;
    auto made = std::make_unique<Predictor>(
        from.model(),
        input_shapes(function, {num_input_nodes, input_keys, input_shape_indptr, input_shape_data}),
        from.dtypes());
    made->take_inputs(from);
    *out = predictor_pool().create(std::move(made));
  });
}

int MXPredFree(PredictorHandle handle) {
  return guarded([&] { predictor_pool().destroy(handle, "MXPredFree"); });
}

int MXPredSetInput(PredictorHandle handle, const char* key, const float* data, uint32_t size) {
  return guarded([&] {
    const PredictorPool::Use predictor = use_predictor(handle, "MXPredSetInput");
    require(key, "MXPredSetInput", "key");
    require(data, "MXPredSetInput", "data");
    (*predictor)->set_input(key, data, size);
  });
}

int MXPredForward(PredictorHandle handle) {
  return guarded([&] { (*use_predictor(handle, "MXPredForward"))->forward(); });
}

int MXPredPartialForward(PredictorHandle handle, int step, int* step_left) {
  return guarded([&] {
    const PredictorPool::Use predictor = use_predictor(handle, "MXPredPartialForward");
    require(step_left, "MXPredPartialForward", "step_left");
    *step_left = (*predictor)->executor().forward_step(step);
  });
}

int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t** shape_data,
                         uint32_t* shape_ndim) {
  return guarded([&] {
    const char* const function = "MXPredGetOutputShape";
    const PredictorPool::Use predictor = use_predictor(handle, function);
    require(shape_data, function, "shape_data");
    require(shape_ndim, function, "shape_ndim");
    const std::span<const uint32_t> dims = (*predictor)->output_dims(index);
    *shape_data = const_cast<uint32_t*>(dims.data());  // as the ABI has it
    *shape_ndim = static_cast<uint32_t>(dims.size());
  });
}

int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int* out_dtype) {
  return guarded([&] {
    const PredictorPool::Use predictor = use_predictor(handle, "MXPredGetOutputType");
    require(out_dtype, "MXPredGetOutputType", "out_dtype");
    *out_dtype = static_cast<int>((*predictor)->output(out_index).dtype());
  });
}

int MXPredGetOutput(PredictorHandle handle, uint32_t index, float* data, uint32_t size) {
  return guarded([&] {
    const PredictorPool::Use predictor = use_predictor(handle, "MXPredGetOutput");
    const NDArray& output = (*predictor)->output(index);
    if (size > 0) require(data, "MXPredGetOutput", "data");
    if (output.size() != int64_t{size}) {
      throw Error(ErrorCode::kValue, "MXPredGetOutput",
                  fmt::format("given room for {} numbers, expected {}", size, output.size()));
    }
    output.sync_copy_to(data, output.size());
  });
}

int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback,
                             void* callback_handle, bool monitor_all) {
  return guarded([&] {
    const PredictorPool::Use predictor = use_predictor(handle, "MXPredSetMonitorCallback");
    Executor& executor = (*predictor)->executor();
    if (callback == nullptr) return executor.set_monitor({}, false);
    executor.set_monitor(
        [callback, callback_handle](const std::string& name, const NDArray& value) {
          callback(name.c_str(), new_handle(value.detach()), callback_handle);
        },
        monitor_all);
  });
}

int MXNDListCreate(const char* nd_file_bytes, int nd_file_size, NDListHandle* out,
                   uint32_t* out_length) {
  return guarded([&] {
    const char* const function = "MXNDListCreate";
    require(nd_file_bytes, function, "nd_file_bytes");
    require(out, function, "out");
    require(out_length, function, "out_length");
    if (nd_file_size < 0)
      throw Error(ErrorCode::kValue, function, fmt::format("given {} bytes", nd_file_size));
    BufferSource source(nd_file_bytes, static_cast<std::size_t>(nd_file_size));
    LoadedArrays loaded = load_arrays(source, numpy_shape());
    auto list = std::make_unique<NamedArrays>();
    list->names = std::move(loaded.names);
    list->names.resize(loaded.arrays.size());
    for (const NDArray& array : loaded.arrays) {
      if (array.dtype() != DType::kFloat32 || array.is_sparse()) {
        throw Error(ErrorCode::kType, function,
                    fmt::format("given an array of {}, expected dense float32 ones",
                                dtype_name(array.dtype())));
      }
      std::vector<float>& values =
          list->values.emplace_back(static_cast<std::size_t>(array.size()));
      array.sync_copy_to(values.data(), array.size());
      std::vector<uint32_t>& dims = list->shapes.emplace_back();
      for (int64_t dim : array.shape().dims()) dims.push_back(static_cast<uint32_t>(dim));
    }
    *out_length = static_cast<uint32_t>(list->values.size());
    *out = nd_list_pool().create(std::move(list));
  });
}

int MXNDListGet(NDListHandle handle, uint32_t index, const char** out_key, const float** out_data,
                const uint32_t** out_shape, uint32_t* out_ndim) {
  return guarded([&] {
    const char* const function = "MXNDListGet";
    const NamedArrays& list = *nd_list_pool().get(handle, function);
    for (const void* pointer :
         {static_cast<const void*>(out_key), static_cast<const void*>(out_data),
          static_cast<const void*>(out_shape), static_cast<const void*>(out_ndim)})
      require(pointer, function, "a result");
    if (index >= list.values.size()) {
      throw Error(ErrorCode::kIndex, function,
                  fmt::format("given index {}, expected less than {}", index, list.values.size()));
    }
    *out_key = list.names[index].c_str();
    *out_data = list.values[index].data();
    *out_shape = list.shapes[index].data();
    *out_ndim = static_cast<uint32_t>(list.shapes[index].size());
  });
}

int MXNDListFree(NDListHandle handle) {
  return guarded([&] { nd_list_pool().destroy(handle, "MXNDListFree"); });
}
