// SPDX-License-Identifier: Apache-2.0
// Fields in the order of params_format.h.
#include "ndarray/save.h"

#include <fmt/format.h>

#include "base/error.h"
#include "ndarray/params_format.h"
#include "ndarray/sparse_store.h"

namespace mxnet {
namespace {

void put_shape(const Shape& shape, ByteSink& sink) {
  sink.put<int32_t>(shape.ndim());
  for (int64_t dim : shape) sink.put<int64_t>(dim);
}

// The whole content in host memory: the array itself or a copy.
NDArray on_host(const NDArray& array) {
  NDArray host = array.device().is_gpu() ? array.copy(Device::cpu()) : array;
  host.wait_to_read();
  return host;
}

// csr without an indptr stands for zeros; the file carries a full one.
Shape saved_aux_shape(const NDArray& array, int aux) {
  const SparseStore& store = array.sparse();
  const Shape& shape = store.aux_shape(aux);
  if (array.storage_type() == StorageType::kCSR && aux == SparseStore::kIndptr && shape.size() == 0)
    return Shape{array.shape()[0] + 1};
  return shape;
}

void put_aux(const NDArray& array, int aux, ByteSink& sink) {
  const SparseStore& store = array.sparse();
  const std::size_t stored = store.part_bytes(1 + aux);
  if (stored > 0) return sink.write(store.aux_data(aux), stored);
  const std::size_t missing = static_cast<std::size_t>(saved_aux_shape(array, aux).size()) *
                              dtype_size(store.aux_dtype(aux));
  const std::string zeros(missing, '\0');
  sink.write(zeros.data(), zeros.size());
}

void put_sparse(const NDArray& array, ByteSink& sink) {
  const SparseStore& store = array.sparse();
  for (int aux = 0; aux < store.num_aux(); ++aux) {
    sink.put(static_cast<int32_t>(store.aux_dtype(aux)));
    put_shape(saved_aux_shape(array, aux), sink);
  }
  sink.write(store.values(), store.part_bytes(SparseStore::kValues));
  for (int aux = 0; aux < store.num_aux(); ++aux) put_aux(array, aux, sink);
}

}  // namespace

void save_record(const NDArray& array, bool numpy_shapes, ByteSink& sink) {
  require_data(array, "save");
  if (array.is_sparse() && numpy_shapes) {
    throw Error(
        ErrorCode::kValue, "NDArray",
        fmt::format("save: given a {} array with NumPy shapes on, expected a dense one: the "
                    "format has no sparse arrays with NumPy shapes",
                    storage_type_name(array.storage_type())));
  }
  if (array.shape().ndim() == 0 && !numpy_shapes) {
    throw Error(
        ErrorCode::kValue, "NDArray",
        "save: given a scalar with NumPy shapes off, where the format cannot tell it from an "
        "unknown shape: turn them on, or reshape it to (1,)");
  }
  const NDArray host = on_host(array);
  sink.put(numpy_shapes ? params_format::kMagicV3 : params_format::kMagicV2);
  sink.put(static_cast<int32_t>(host.storage_type()));
  if (host.is_sparse()) put_shape(host.sparse().values_shape(), sink);
  put_shape(host.shape(), sink);
  sink.put(static_cast<int32_t>(array.device().type));
  sink.put(array.device().id);
  sink.put(static_cast<int32_t>(host.dtype()));
  if (host.is_sparse()) {
    put_sparse(host, sink);
  } else if (host.bytes() > 0) {
    sink.write(host.data(), host.bytes());
  }
}

void save_arrays(std::span<const NDArray> arrays, std::span<const std::string> names,
                 bool numpy_shapes, ByteSink& sink) {
  if (!names.empty() && names.size() != arrays.size()) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("save: given {} names for {} arrays", names.size(), arrays.size()));
  }
  sink.put(params_format::kListMagic);
  sink.put<uint64_t>(0);
  sink.put<uint64_t>(arrays.size());
  for (const NDArray& array : arrays) save_record(array, numpy_shapes, sink);
  sink.put<uint64_t>(names.size());
  for (const std::string& name : names) {
    sink.put<uint64_t>(name.size());
    sink.write(name.data(), name.size());
  }
}

void save_file(const std::string& path, std::span<const NDArray> arrays,
               std::span<const std::string> names, bool numpy_shapes) {
  AtomicFileSink sink(path);
  save_arrays(arrays, names, numpy_shapes, sink);
  sink.commit();
}

}  // namespace mxnet
