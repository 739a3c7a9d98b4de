// SPDX-License-Identifier: Apache-2.0
// Blocking copies, waits, values to read in place, and the parts of sparse arrays.
#include <fmt/format.h>

#include <limits>

#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "mxnet/c_api_ext.h"
#include "ndarray/copy_into.h"
#include "ndarray/sparse_check.h"
#include "op/moving/host_elements.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

int64_t checked_count(const char* function, const void* data, size_t size) {
  if (size > 0) require(data, function, "data");
  if (size > static_cast<size_t>(std::numeric_limits<int64_t>::max()))
    throw Error(ErrorCode::kValue, function, fmt::format("given {} elements", size));
  return static_cast<int64_t>(size);
}

HostElements checked_elements(const char* function, const NDArray& array, const void* data,
                              int dtype, int ndim, const int64_t* strides) {
  if (array.size() > 0) require(data, function, "data");
  if (ndim != array.shape().ndim())
    throw Error(ErrorCode::kValue, function,
                fmt::format("given {} dimensions, expected those of shape {}", ndim,
                            to_string(array.shape())));
  if (ndim > 0) require(strides, function, "strides");
  HostElements from{data, checked_dtype(function, dtype), {}};
  const auto bytes = static_cast<int64_t>(dtype_size(from.dtype));
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(bytes) != 0)
    throw Error(ErrorCode::kValue, function,
                fmt::format("given the address {}, expected a multiple of {} for {}", data, bytes,
                            dtype_name(from.dtype)));
  for (std::size_t i = 0; i < static_cast<std::size_t>(ndim); ++i) {
    if (array.shape()[static_cast<int>(i)] <= 1) continue;  // there are no neighbours
    if (strides[i] % bytes != 0)
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given {} bytes between elements of dimension {}, expected a "
                              "multiple of {} for {}",
                              strides[i], i, bytes, dtype_name(from.dtype)));
    from.steps[i] = strides[i] / bytes;
  }
  return from;
}

int checked_part(const char* function, int part) {
  if (part < kValuesPart || part > 1)
    throw Error(ErrorCode::kValue, function,
                fmt::format("given part {}, expected -1 (values), 0 or 1 (index arrays)", part));
  return part;
}

int checked_aux(const char* function, int64_t aux) {
  if (aux < 0 || aux > 1)
    throw Error(ErrorCode::kValue, function,
                fmt::format("given index array {}, expected 0 or 1", aux));
  return static_cast<int>(aux);
}

void get_part(const char* function, NDArrayHandle handle, int part, NDArrayHandle* out) {
  require(out, function, "out");
  *out = new_handle(copy_part(array_of(handle, function), part));
}

void get_aux(const char* function, NDArrayHandle handle, int64_t aux, NDArrayHandle* out) {
  get_part(function, handle, checked_aux(function, aux), out);
}

void get_aux_type(const char* function, NDArrayHandle handle, int64_t aux, int* out) {
  require(out, function, "out_type");
  *out = static_cast<int>(aux_dtype(array_of(handle, function), checked_aux(function, aux)));
}

}  // namespace

int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void* data, size_t size) {
  return guarded([&] {
    NDArray& array = array_of(handle, "MXNDArraySyncCopyFromCPU");
    array.sync_copy_from(data, checked_count("MXNDArraySyncCopyFromCPU", data, size));
  });
}

int MXNDArraySyncCopyFromStrided(NDArrayHandle handle, const void* data, int dtype, int ndim,
                                 const int64_t* strides, int* overflows) {
  return guarded([&] {
    static constexpr const char* kFunction = "MXNDArraySyncCopyFromStrided";
    NDArray& array = array_of(handle, kFunction);
    require_dense(array, kFunction);
    const HostElements from = checked_elements(kFunction, array, data, dtype, ndim, strides);
    const bool overflowed = copy_from_host(from, array);
    if (overflows != nullptr) *overflows = static_cast<int>(overflowed);
  });
}

int MXNDArrayCopyFromStridedIfFree(NDArrayHandle handle, const void* data, int dtype, int ndim,
                                   const int64_t* strides, int* done) {
  return guarded([&] {
    static constexpr const char* kFunction = "MXNDArrayCopyFromStridedIfFree";
    require(done, kFunction, "done");
    const NDArray& array = array_of(handle, kFunction);
    require_dense(array, kFunction);
    const HostElements from = checked_elements(kFunction, array, data, dtype, ndim, strides);
    *done = static_cast<int>(copy_from_host_if_free(from, array));
  });
}

int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void* data, size_t size) {
  return guarded([&] {
    const NDArray& array = array_of(handle, "MXNDArraySyncCopyToCPU");
    array.sync_copy_to(data, checked_count("MXNDArraySyncCopyToCPU", data, size));
  });
}

int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, const NDArrayHandle handle_src,
                                 const int i) {
  return guarded([&] {
    const NDArray& source = array_of(handle_src, "MXNDArraySyncCopyFromNDArray");
    sync_copy_into(array_of(handle_dst, "MXNDArraySyncCopyFromNDArray"), source,
                   checked_part("MXNDArraySyncCopyFromNDArray", i));
  });
}

int MXNDArraySyncCheckFormat(NDArrayHandle handle, const bool full_check) {
  return guarded([&] { check_format(array_of(handle, "MXNDArraySyncCheckFormat"), full_check); });
}

int MXNDArrayWaitToRead(NDArrayHandle handle) {
  return guarded([&] { array_of(handle, "MXNDArrayWaitToRead").wait_to_read(); });
}

int MXNDArrayWaitToWrite(NDArrayHandle handle) {
  return guarded([&] { array_of(handle, "MXNDArrayWaitToWrite").wait_to_write(); });
}

int MXNDArrayGetDataToRead(NDArrayHandle handle, const void** out_pdata, uint64_t* out_version) {
  return guarded([&] {
    require(out_pdata, "MXNDArrayGetDataToRead", "out_pdata");
    require(out_version, "MXNDArrayGetDataToRead", "out_version");
    const NDArray& array = array_of(handle, "MXNDArrayGetDataToRead");
    require_dense(array, "MXNDArrayGetDataToRead");
    if (array.device().is_gpu())
      throw Error(ErrorCode::kValue, "MXNDArrayGetDataToRead",
                  fmt::format("given an array on {}, expected one in host memory",
                              to_string(array.device())));
    array.wait_to_read();
    *out_version = Engine::get().version(array.var());
    *out_pdata = array.data();
  });
}

int MXNDArrayGetDataNDArray(NDArrayHandle handle, NDArrayHandle* out) {
  return guarded([&] { get_part("MXNDArrayGetDataNDArray", handle, kValuesPart, out); });
}

int MXNDArrayGetAuxNDArray(NDArrayHandle handle, uint32_t i, NDArrayHandle* out) {
  return guarded([&] { get_aux("MXNDArrayGetAuxNDArray", handle, i, out); });
}

int MXNDArrayGetAuxNDArray64(NDArrayHandle handle, int64_t i, NDArrayHandle* out) {
  return guarded([&] { get_aux("MXNDArrayGetAuxNDArray64", handle, i, out); });
}

int MXNDArrayGetAuxType(NDArrayHandle handle, uint32_t i, int* out_type) {
  return guarded([&] { get_aux_type("MXNDArrayGetAuxType", handle, i, out_type); });
}

int MXNDArrayGetAuxType64(NDArrayHandle handle, int64_t i, int* out_type) {
  return guarded([&] { get_aux_type("MXNDArrayGetAuxType64", handle, i, out_type); });
}
