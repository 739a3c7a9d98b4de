// SPDX-License-Identifier: Apache-2.0
// Memory shared with other frameworks (DLPack) and other processes.
#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "ndarray/dlpack.h"
#include "ndarray/shared_array.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

void from_dlpack_handle(const char* function, DLManagedTensorHandle dlpack, bool transient,
                        NDArrayHandle* out) {
  require(dlpack, function, "dlpack");
  require(out, function, "out_handle");
  *out = new_handle(from_dlpack(static_cast<DLManagedTensor*>(dlpack), transient));
}

template <class T>
void from_shared(const char* function, int shared_pid, int shared_id, const T* shape, int64_t ndim,
                 int dtype, NDArrayHandle* out) {
  require(out, function, "out");
  *out = new_handle(from_shared_handle({.pid = shared_pid, .fd = shared_id},
                                       checked_shape(function, shape, ndim),
                                       checked_dtype(function, dtype)));
}

}  // namespace

int MXNDArrayToDLPack(NDArrayHandle handle, DLManagedTensorHandle* out_dlpack) {
  return guarded([&] {
    require(out_dlpack, "MXNDArrayToDLPack", "out_dlpack");
    *out_dlpack = to_dlpack(array_of(handle, "MXNDArrayToDLPack"));
  });
}

int MXNDArrayFromDLPack(DLManagedTensorHandle dlpack, NDArrayHandle* out_handle) {
  return guarded([&] { from_dlpack_handle("MXNDArrayFromDLPack", dlpack, false, out_handle); });
}

int MXNDArrayFromDLPackEx(DLManagedTensorHandle dlpack, const bool transient_handle,
                          NDArrayHandle* out_handle) {
  return guarded(
      [&] { from_dlpack_handle("MXNDArrayFromDLPackEx", dlpack, transient_handle, out_handle); });
}

int MXNDArrayCallDLPackDeleter(DLManagedTensorHandle dlpack) {
  return guarded([&] {
    require(dlpack, "MXNDArrayCallDLPackDeleter", "dlpack");
    auto* tensor = static_cast<DLManagedTensor*>(dlpack);
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  });
}

int MXNDArrayGetSharedMemHandle(NDArrayHandle handle, int* shared_pid, int* shared_id) {
  return guarded([&] {
    require(shared_pid, "MXNDArrayGetSharedMemHandle", "shared_pid");
    require(shared_id, "MXNDArrayGetSharedMemHandle", "shared_id");
    const SharedHandle shared = shared_handle(array_of(handle, "MXNDArrayGetSharedMemHandle"));
    *shared_pid = shared.pid;
    *shared_id = shared.fd;
  });
}

int MXNDArrayCreateFromSharedMem(int shared_pid, int shared_id, const uint32_t* shape,
                                 uint32_t ndim, int dtype, NDArrayHandle* out) {
  return guarded([&] {
    from_shared("MXNDArrayCreateFromSharedMem", shared_pid, shared_id, shape, ndim, dtype, out);
  });
}

int MXNDArrayCreateFromSharedMemEx(int shared_pid, int shared_id, const int* shape, int ndim,
                                   int dtype, NDArrayHandle* out) {
  return guarded([&] {
    from_shared("MXNDArrayCreateFromSharedMemEx", shared_pid, shared_id, shape, ndim, dtype, out);
  });
}
