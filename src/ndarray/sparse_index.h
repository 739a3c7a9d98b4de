// SPDX-License-Identifier: Apache-2.0
// Index arrays of sparse arrays read as int64, whatever their type.
#pragma once
#include <cstdint>

#include "ndarray/sparse_store.h"

namespace mxnet {

// Borrows; REQUIRES as for SparseStore.
class IndexReader {
 public:
  IndexReader(const SparseStore& store, int aux)
      : data_(store.aux_data(aux)),
        wide_(store.aux_dtype(aux) == DType::kInt64),
        size_(store.aux_shape(aux).size()) {}

  int64_t operator[](int64_t i) const {
    return wide_ ? static_cast<const int64_t*>(data_)[i] : static_cast<const int32_t*>(data_)[i];
  }
  int64_t size() const { return size_; }

  // fn(array), of int64_t or int32_t.
  template <class F>
  auto with_array(const F& fn) const {
    return wide_ ? fn(static_cast<const int64_t*>(data_)) : fn(static_cast<const int32_t*>(data_));
  }

 private:
  const void* data_;
  bool wide_;
  int64_t size_;
};

class IndexWriter {
 public:
  IndexWriter(const SparseStore& store, int aux)
      : data_(store.own_aux(aux)), wide_(store.aux_dtype(aux) == DType::kInt64) {}

  void set(int64_t i, int64_t value) const {
    if (wide_) {
      static_cast<int64_t*>(data_)[i] = value;
    } else {
      static_cast<int32_t*>(data_)[i] = static_cast<int32_t>(value);
    }
  }

  // As of IndexReader.
  template <class F>
  void with_array(const F& fn) const {
    wide_ ? fn(static_cast<int64_t*>(data_)) : fn(static_cast<int32_t*>(data_));
  }

 private:
  void* data_;
  bool wide_;
};

}  // namespace mxnet
