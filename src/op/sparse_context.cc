// SPDX-License-Identifier: Apache-2.0
// Views of sparse arrays, and outputs made to measure.
#include "op/sparse_context.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "ndarray/sparse_check.h"
#include "ndarray/sparse_convert.h"
#include "ndarray/sparse_index.h"
#include "op/inline_vector.h"
#include "op/op_def.h"

namespace mxnet {

int64_t* SparseContext::indices_of(const SparseStore& store, int aux) const {
  if (store.aux_dtype(aux) == DType::kInt64)
    return static_cast<int64_t*>(const_cast<void*>(store.aux_data(aux)));
  const IndexReader narrow(store, aux);
  auto* wide = workspace_of<int64_t>(narrow.size());
  for (int64_t i = 0; i < narrow.size(); ++i) wide[i] = narrow[i];
  return wide;
}

CsrView SparseContext::csr_view(const NDArray& array) const {
  MX_ASSERT(array.storage_type() == StorageType::kCSR);
  const SparseStore& store = array.sparse();
  CsrView view{array.shape()[0],
               array.shape()[1],
               store.stored(),
               indices_of(store, SparseStore::kIndptr),
               indices_of(store, SparseStore::kIndices),
               {store.values(), &store.values_shape(), array.dtype()}};
  if (store.aux_shape(SparseStore::kIndptr).size() == 0) {
    view.indptr = workspace_of<int64_t>(view.rows + 1);
    std::fill_n(view.indptr, view.rows + 1, int64_t{0});
  }
  return view;
}

CsrView SparseContext::csr(int i) const {
  CsrView view = csr_view(in(i));
  view.known_ascending = is_known_ascending(in(i));
  return view;
}

RowsView SparseContext::rows_view(const NDArray& array) const {
  MX_ASSERT(array.storage_type() == StorageType::kRowSparse);
  const SparseStore& store = array.sparse();
  return {array.shape()[0],
          store.aux_shape(SparseStore::kRows).size(),
          array.shape().size(1, array.shape().ndim()),
          indices_of(store, SparseStore::kRows),
          {store.values(), &store.values_shape(), array.dtype()}};
}

CsrView SparseContext::make_csr(int o, int64_t stored) const {
  const NDArray& array = out(o);
  array.sparse().resize(stored, array.device());
  return csr_view(array);
}

void SparseContext::keep(int o, int64_t stored) const {
  const NDArray& array = out(o);
  SparseStore& store = array.sparse();
  // What is hardly shorter stays where it is.
  if (const int64_t room = store.stored(); stored >= room - room / 8)
    return store.resize(stored, array.device());
  NDArray other(array.storage_type(), array.shape(), array.dtype(), array.device());
  SparseStore& fitting = other.sparse();
  fitting.resize(stored, array.device());
  for (int part = 0; part < store.num_parts(); ++part) {
    if (const std::size_t bytes = fitting.part_bytes(part); bytes > 0)
      std::memcpy(fitting.part_data(part), store.part_data(part), bytes);
  }
  store.swap(fitting);
}

RowsView SparseContext::make_rows(int o, int64_t stored) const {
  const NDArray& array = out(o);
  array.sparse().resize(stored, array.device());
  return rows_view(array);
}

Tensor SparseContext::make_like(int o, int i) const {
  const NDArray& array = out(o);
  SparseStore& store = array.sparse();
  copy_structure(in(i), array);
  // What results store nothing of has an indptr all the same.
  if (store.stored() == 0 && store.aux_shape(SparseStore::kIndptr).size() == 0)
    store.resize(0, array.device());
  return {store.values(), &store.values_shape(), array.dtype()};
}

RowsView SparseContext::fill_up(int i) const {
  const NDArray& array = in(i);
  SparseStore& store = array.sparse();
  const RowsView had = rows_view(array);
  if (had.stored == had.rows) return had;
  SparseStore full(StorageType::kRowSparse, array.shape(), array.dtype(),
                   {store.aux_dtype(0), store.aux_dtype(0)});
  full.resize(had.rows, array.device());
  const IndexWriter index(full, SparseStore::kRows);
  for (int64_t row = 0; row < had.rows; ++row) index.set(row, row);
  if (const std::size_t bytes = full.part_bytes(SparseStore::kValues); bytes > 0) {
    std::memset(full.values(), 0, bytes);
    for (int64_t k = 0; k < had.stored; ++k) {
      std::memcpy(static_cast<char*>(full.values()) +
                      static_cast<std::size_t>(had.index[k]) * had.row_bytes(),
                  had.values.as<char>() + static_cast<std::size_t>(k) * had.row_bytes(),
                  had.row_bytes());
    }
  }
  store.swap(full);
  return rows_view(array);
}

void SparseContext::run_dense(std::span<const Tensor> in, std::span<const Tensor> out) const {
  KernelContext context(in, out, Device::cpu(), nullptr, training_, resources_);
  dense_.run(params_, context);
}

}  // namespace mxnet
