// SPDX-License-Identifier: Apache-2.0
// The array that users hold: a contiguous window (offset, shape, type) on a shared chunk, or the
// whole of a sparse one. Copying an NDArray shares the memory. Values become valid in the engine's
// order; only the sync_ and wait_ calls block.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/device.h"
#include "base/dtype.h"
#include "base/ref.h"
#include "base/shape.h"
#include "ndarray/chunk.h"
#include "ndarray/storage_type.h"

namespace mxnet {

class NDArray;

// What autograd knows of an array; defined by exec, owned here because it lives and dies with the
// handle. The defaults are those of an array that no gradient is kept for.
class TapeInfo : public RefCounted {
 public:
  virtual ~TapeInfo() = default;
  virtual NDArray gradient() const;  // the buffer of a marked array, else none
  // Set by a trainer, cleared by backward: "this gradient was not used yet".
  virtual bool fresh_gradient() const { return false; }
  virtual void set_fresh_gradient(bool) {}
};

// A value type; not thread-safe itself (as std::shared_ptr: separate copies may be used by separate
// threads).
class NDArray {
 public:
  NDArray() = default;  // "none": no shape, no type, no memory
  NDArray(Shape shape, DType dtype, Device device, const char* tag = nullptr);
  // A sparse array in which nothing is stored yet.
  NDArray(StorageType type, Shape shape, DType dtype, Device device,
          std::array<DType, 2> aux_dtypes = {DType::kInt64, DType::kInt64});
  // REQUIRES: the chunk holds shape.size() elements from byte `offset` on.
  NDArray(Ref<Chunk> chunk, std::size_t offset, Shape shape, DType dtype);

  bool is_none() const { return !chunk_; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  StorageType storage_type() const {
    return chunk_ ? chunk_->storage_type() : StorageType::kUndefined;
  }
  bool is_sparse() const { return chunk_ && chunk_->sparse() != nullptr; }
  Device device() const { return chunk_ ? chunk_->device() : Device{}; }
  int64_t size() const { return shape_.size(); }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * dtype_size(dtype_); }
  Var* var() const { return chunk_->var(); }
  const Ref<Chunk>& chunk() const { return chunk_; }
  std::size_t offset() const { return offset_; }

  // Address of the first element. REQUIRES: dense; inside an operation that declared var(), or
  // after a wait.
  void* data() const { return static_cast<char*>(chunk_->data()) + offset_; }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data());
  }
  // Values and indices. REQUIRES: is_sparse(), else as data().
  SparseStore& sparse() const { return *chunk_->sparse(); }

  // Views that share memory. Each throws Error(kIndex or kValue) naming what was given and
  // expected, Error(kType) for a sparse array.
  NDArray slice(int64_t begin, int64_t end) const;  // rows [begin, end)
  NDArray at(int64_t index) const;            // one row, a dimension less: () from one dimension
  NDArray reshape(const Shape& shape) const;  // same number of elements
  // The same memory as another type and shape; offset and size are checked against the chunk.
  NDArray view_as(Shape shape, DType dtype) const;
  // The same memory without history.
  NDArray detach() const;

  void wait_to_read() const;   // until the last write is done
  void wait_to_write() const;  // until all reads and writes are done

  // Blocking copies between host memory and a dense array. `count` elements, which must be size().
  void sync_copy_from(const void* data, int64_t count);
  void sync_copy_to(void* data, int64_t count) const;
  // Pushes an element-for-element copy. Shapes and types must match (types are converted by the
  // cast operator, not here); storage types may differ: the values are converted on the way.
  void copy_to(const NDArray& to, int priority = 0) const;
  // A new array of the same storage type with the same values on `device`.
  NDArray copy(Device device) const;

  const Ref<TapeInfo>& tape() const { return tape_; }
  void set_tape(Ref<TapeInfo> tape) { tape_ = std::move(tape); }

 private:
  Ref<Chunk> chunk_;
  Ref<TapeInfo> tape_;
  std::size_t offset_ = 0;  // bytes
  Shape shape_;
  DType dtype_ = DType::kUnknown;
};

// Throws Error(kValue) "<what>: given an array without data" for none.
void require_data(const NDArray& array, const char* what);
// As require_data, and Error(kType) for a sparse array.
void require_dense(const NDArray& array, const char* what);

}  // namespace mxnet
