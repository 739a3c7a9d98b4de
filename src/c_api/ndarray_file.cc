// SPDX-License-Identifier: Apache-2.0
// Arrays in files and buffers.
#include "base/numpy_shape.h"
#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "ndarray/load.h"
#include "ndarray/save.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

void load(const char* function, ByteSource& source, uint32_t* out_size, NDArrayHandle** out_arr,
          uint32_t* out_name_size, const char*** out_names) {
  require(out_size, function, "out_size");
  require(out_arr, function, "out_arr");
  require(out_name_size, function, "out_name_size");
  require(out_names, function, "out_names");
  LoadedArrays loaded = load_arrays(source, numpy_shape());
  return_arrays(std::move(loaded.arrays), std::move(loaded.names), out_size, out_arr, out_name_size,
                out_names);
}

}  // namespace

int MXNDArraySave(const char* fname, uint32_t num_args, NDArrayHandle* args, const char** keys) {
  return guarded([&] {
    require(fname, "MXNDArraySave", "fname");
    if (num_args > 0) require(args, "MXNDArraySave", "args");
    std::vector<NDArray> arrays;
    std::vector<std::string> names;
    for (uint32_t i = 0; i < num_args; ++i) {
      arrays.push_back(array_of(args[i], "MXNDArraySave"));
      if (keys == nullptr) continue;
      require(keys[i], "MXNDArraySave", "a key");
      names.emplace_back(keys[i]);
    }
    save_file(fname, arrays, names, is_numpy_shape());
  });
}

int MXNDArrayLoad(const char* fname, uint32_t* out_size, NDArrayHandle** out_arr,
                  uint32_t* out_name_size, const char*** out_names) {
  return guarded([&] {
    require(fname, "MXNDArrayLoad", "fname");
    FileSource source(fname);
    load("MXNDArrayLoad", source, out_size, out_arr, out_name_size, out_names);
  });
}

int MXNDArrayLoadFromBuffer(const void* ndarray_buffer, size_t size, uint32_t* out_size,
                            NDArrayHandle** out_arr, uint32_t* out_name_size,
                            const char*** out_names) {
  return guarded([&] {
    require(ndarray_buffer, "MXNDArrayLoadFromBuffer", "ndarray_buffer");
    BufferSource source(ndarray_buffer, size);
    load("MXNDArrayLoadFromBuffer", source, out_size, out_arr, out_name_size, out_names);
  });
}

int MXNDArraySaveRawBytes(NDArrayHandle handle, size_t* out_size, const char** out_buf) {
  return guarded([&] {
    require(out_size, "MXNDArraySaveRawBytes", "out_size");
    require(out_buf, "MXNDArraySaveRawBytes", "out_buf");
    StringSink sink;
    save_record(array_of(handle, "MXNDArraySaveRawBytes"), is_numpy_shape(), sink);
    std::string& kept = ndarray_returns().bytes;
    kept = sink.take();
    *out_size = kept.size();
    *out_buf = kept.data();
  });
}

int MXNDArrayLoadFromRawBytes(const void* buf, size_t size, NDArrayHandle* out) {
  return guarded([&] {
    require(buf, "MXNDArrayLoadFromRawBytes", "buf");
    require(out, "MXNDArrayLoadFromRawBytes", "out");
    BufferSource source(buf, size);
    *out = new_handle(load_record(source, numpy_shape()));
  });
}
