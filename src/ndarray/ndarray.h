// SPDX-License-Identifier: Apache-2.0
// The array that users hold: a contiguous window (offset, shape, type) on a shared chunk. Copying
// an NDArray shares the memory. Values become valid in the engine's order; only the sync_ and wait_
// calls block.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/device.h"
#include "base/dtype.h"
#include "base/ref.h"
#include "base/shape.h"
#include "ndarray/chunk.h"

namespace mxnet {

enum class StorageType : int8_t { kUndefined = -1, kDense = 0, kRowSparse = 1, kCSR = 2 };

// What autograd knows of an array; defined by exec, owned here because it lives and dies with the
// handle.
class TapeInfo : public RefCounted {
 public:
  virtual ~TapeInfo() = default;
};

// A value type; not thread-safe itself (as std::shared_ptr: separate copies may be used by separate
// threads).
class NDArray {
 public:
  NDArray() = default;  // "none": no shape, no type, no memory
  NDArray(Shape shape, DType dtype, Device device, const char* tag = nullptr);
  // REQUIRES: the chunk holds shape.size() elements from byte `offset` on.
  NDArray(Ref<Chunk> chunk, std::size_t offset, Shape shape, DType dtype);

  bool is_none() const { return !chunk_; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  StorageType storage_type() const {
    return chunk_ ? StorageType::kDense : StorageType::kUndefined;
  }
  Device device() const { return chunk_ ? chunk_->device() : Device{}; }
  int64_t size() const { return shape_.size(); }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * dtype_size(dtype_); }
  Var* var() const { return chunk_->var(); }
  const Ref<Chunk>& chunk() const { return chunk_; }
  std::size_t offset() const { return offset_; }

  // Address of the first element. REQUIRES: inside an operation that declared var(), or after a
  // wait.
  void* data() const { return static_cast<char*>(chunk_->data()) + offset_; }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data());
  }

  // Views that share memory. Each throws Error(kIndex or kValue) naming what was given and
  // expected.
  NDArray slice(int64_t begin, int64_t end) const;  // rows [begin, end)
  NDArray at(int64_t index) const;                  // one row; a dimension less
  NDArray reshape(const Shape& shape) const;        // same number of elements
  // The same memory as another type and shape; offset and size are checked against the chunk.
  NDArray view_as(Shape shape, DType dtype) const;

  void wait_to_read() const;   // until the last write is done
  void wait_to_write() const;  // until all reads and writes are done

  // Blocking copies between host memory and the array. `count` elements, which must be size().
  void sync_copy_from(const void* data, int64_t count);
  void sync_copy_to(void* data, int64_t count) const;
  // Pushes an element-for-element copy; shapes must match; types are converted by the cast
  // operator, not here.
  void copy_to(const NDArray& to, int priority = 0) const;

  const Ref<TapeInfo>& tape() const { return tape_; }
  void set_tape(Ref<TapeInfo> tape) { tape_ = std::move(tape); }

 private:
  Ref<Chunk> chunk_;
  Ref<TapeInfo> tape_;
  std::size_t offset_ = 0;  // bytes
  Shape shape_;
  DType dtype_ = DType::kUnknown;
};

}  // namespace mxnet
