// SPDX-License-Identifier: Apache-2.0
// The helpers of sparse_arrays.h.
#include "exec/sparse/sparse_arrays.h"

#include <cstring>

#include "ndarray/copy_into.h"
#include "ndarray/sparse_convert.h"
#include "ndarray/sparse_store.h"

namespace mxnet {
namespace {

NDArray indices_array(const Indices& indices) {
  NDArray array({static_cast<int64_t>(indices.size())}, DType::kInt64, Device::cpu());
  array.sync_copy_from(indices.data(), array.size());
  return array;
}

}  // namespace

NDArray row_sparse_of(Shape shape, Indices rows, Values values) {
  NDArray array(StorageType::kRowSparse, shape, DType::kFloat32, Device::cpu());
  shape[0] = static_cast<int64_t>(rows.size());
  sync_copy_into(array, array_of(std::move(values), shape), kValuesPart);
  sync_copy_into(array, indices_array(rows), SparseStore::kRows);
  return array;
}

NDArray csr_of(Shape shape, Indices indptr, Indices columns, Values values) {
  NDArray array(StorageType::kCSR, shape, DType::kFloat32, Device::cpu());
  sync_copy_into(array, array_of(std::move(values)), kValuesPart);
  sync_copy_into(array, indices_array(indptr), SparseStore::kIndptr);
  sync_copy_into(array, indices_array(columns), SparseStore::kIndices);
  return array;
}

NDArray cast_to(StorageType type, NDArray array) {
  return call("cast_storage", {&array}, {{"stype", std::string(storage_type_name(type))}});
}

Values elements_of(const NDArray& array) {
  return values_of(cast_storage(array, StorageType::kDense));
}

Indices indices_of(const NDArray& array, int aux) {
  const NDArray part = copy_part(array, aux);
  Indices indices(static_cast<std::size_t>(part.size()));
  part.sync_copy_to(indices.data(), part.size());
  return indices;
}

}  // namespace mxnet
