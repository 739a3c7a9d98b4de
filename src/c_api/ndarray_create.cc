// SPDX-License-Identifier: Apache-2.0
// Making and freeing arrays.
#include <array>

#include <fmt/format.h>

#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "ndarray/sparse_store.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

template <class T>
void create_dense(const char* function, const T* shape, int64_t ndim, int dev_type, int dev_id,
                  int delay_alloc, int dtype, NDArrayHandle* out) {
  require(out, function, "out");
  NDArray array(checked_shape(function, shape, ndim), checked_dtype(function, dtype),
                checked_device(function, dev_type, dev_id));
  if (delay_alloc == 0) array.data();
  *out = new_handle(std::move(array));
}

// The shapes of all index arrays lie one after the other in `aux_shape`.
template <class Dim, class Count>
void create_sparse(const char* function, int storage_type, const Dim* shape, int64_t ndim,
                   int dev_type, int dev_id, int dtype, uint32_t num_aux, const int* aux_type,
                   const Count* aux_ndims, const Dim* aux_shape, NDArrayHandle* out) {
  require(out, function, "out");
  const std::optional<StorageType> type = storage_type_from_number(storage_type);
  if (!type || *type == StorageType::kDense || static_cast<int>(num_aux) != mxnet::num_aux(*type)) {
    throw Error(
        ErrorCode::kValue, function,
        fmt::format("given storage type {} with {} index arrays, expected 1 (row_sparse) with "
                    "1 or 2 (csr) with 2",
                    storage_type, num_aux));
  }
  require(aux_type, function, "aux_type");
  require(aux_ndims, function, "aux_ndims");
  std::array<DType, 2> aux_dtypes{DType::kInt64, DType::kInt64};
  std::array<Shape, 2> aux_shapes;
  for (std::size_t i = 0; i < num_aux; ++i) {
    aux_dtypes[i] = checked_dtype(function, aux_type[i]);
    aux_shapes[i] = checked_shape(function, aux_shape, static_cast<int64_t>(aux_ndims[i]));
    aux_shape += aux_ndims[i];
  }
  const Device device = checked_device(function, dev_type, dev_id);
  NDArray array(*type, checked_shape(function, shape, ndim), checked_dtype(function, dtype), device,
                aux_dtypes);
  // The values follow from the indices: as many non-zeros, or rows.
  const Shape& indices = aux_shapes[num_aux - 1];
  Shape values = *type == StorageType::kCSR ? indices : array.shape();
  if (*type == StorageType::kRowSparse && indices.ndim() > 0) values[0] = indices[0];
  SparseStore& store = array.sparse();
  store.resize_part(SparseStore::kValues, values, device);
  for (int i = 0; i < store.num_aux(); ++i)
    store.resize_part(1 + i, aux_shapes[static_cast<std::size_t>(i)], device);
  *out = new_handle(std::move(array));
}

}  // namespace

int MXNDArrayCreateNone(NDArrayHandle* out) {
  return guarded([&] {
    require(out, "MXNDArrayCreateNone", "out");
    *out = new_handle(NDArray());
  });
}

int MXNDArrayCreate(const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc,
                    NDArrayHandle* out) {
  return guarded(
      [&] { create_dense("MXNDArrayCreate", shape, ndim, dev_type, dev_id, delay_alloc, 0, out); });
}

int MXNDArrayCreateEx(const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id,
                      int delay_alloc, int dtype, NDArrayHandle* out) {
  return guarded([&] {
    create_dense("MXNDArrayCreateEx", shape, ndim, dev_type, dev_id, delay_alloc, dtype, out);
  });
}

int MXNDArrayCreateEx64(const int64_t* shape, int ndim, int dev_type, int dev_id, int delay_alloc,
                        int dtype, NDArrayHandle* out) {
  return guarded([&] {
    create_dense("MXNDArrayCreateEx64", shape, ndim, dev_type, dev_id, delay_alloc, dtype, out);
  });
}

int MXNDArrayCreateSparseEx(int storage_type, const uint32_t* shape, uint32_t ndim, int dev_type,
                            int dev_id, int /*delay_alloc*/, int dtype, uint32_t num_aux,
                            int* aux_type, uint32_t* aux_ndims, const uint32_t* aux_shape,
                            NDArrayHandle* out) {
  return guarded([&] {
    create_sparse("MXNDArrayCreateSparseEx", storage_type, shape, ndim, dev_type, dev_id, dtype,
                  num_aux, aux_type, aux_ndims, aux_shape, out);
  });
}

int MXNDArrayCreateSparseEx64(int storage_type, const int64_t* shape, int ndim, int dev_type,
                              int dev_id, int /*delay_alloc*/, int dtype, uint32_t num_aux,
                              int* aux_type, int* aux_ndims, const int64_t* aux_shape,
                              NDArrayHandle* out) {
  return guarded([&] {
    create_sparse("MXNDArrayCreateSparseEx64", storage_type, shape, ndim, dev_type, dev_id, dtype,
                  num_aux, aux_type, aux_ndims, aux_shape, out);
  });
}

int MXNDArrayFree(NDArrayHandle handle) {
  return guarded([&] {
    if (handle != nullptr) ndarray_pool().destroy(handle, "MXNDArrayFree");
  });
}
