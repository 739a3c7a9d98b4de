// SPDX-License-Identifier: Apache-2.0
// What a sparse array holds instead of one block: values and index arrays, whose sizes are known
// only when the operation that writes them runs. Arrays that store the same elements may have index
// arrays in common.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/device.h"
#include "base/dtype.h"
#include "base/ref.h"
#include "base/shape.h"
#include "ndarray/storage_type.h"
#include "storage/storage.h"

namespace mxnet {

// Guarded by the variable of the chunk that owns it: sizes and addresses are for operations that
// declared it, and for callers that have waited.
//
// Invariants:
// 1. row_sparse: values (rows,) + shape[1:], aux 0 (rows,). csr: values (nnz,), aux 0 = indptr
//    (shape[0] + 1,), aux 1 = indices (nnz,). A caller of the C ABI may break this between its
//    calls; check_format() tells.
// 2. A part's block always holds its shape. An empty indptr stands for all zeros.
// 3. What several stores have is not written: whoever fills an index array calls resize() or
//    resize_part() before, which gives a store memory of its own.
class SparseStore {
 public:
  static constexpr int kValues = 0;  // part numbers: values, then aux i at 1 + i
  static constexpr int kMaxParts = 3;
  static constexpr int kIndptr = 0, kIndices = 1;  // aux numbers of csr
  static constexpr int kRows = 0;                  // aux number of row_sparse

  // Nothing stored. Throws Error(kValue) where `shape` does not suit the layout (csr is a matrix,
  // row_sparse has a first dimension), Error(kType) where an index type is not int32 or int64.
  SparseStore(StorageType type, const Shape& shape, DType dtype,
              std::array<DType, 2> aux_dtypes = {DType::kInt64, DType::kInt64});

  StorageType type() const { return type_; }
  int num_aux() const { return mxnet::num_aux(type_); }
  int num_parts() const { return 1 + num_aux(); }

  DType dtype() const { return parts_[kValues].dtype; }
  const Shape& values_shape() const { return parts_[kValues].shape; }
  void* values() const { return part_data(kValues); }
  DType aux_dtype(int i) const { return aux(i).dtype; }
  const Shape& aux_shape(int i) const { return aux(i).shape; }
  const void* aux_data(int i) const { return aux(i).data(); }
  // To write there. REQUIRES: resize() or resize_part() was called since indices were shared.
  void* own_aux(int i) const;
  std::size_t part_bytes(int part) const;
  void* part_data(int part) const { return parts_[static_cast<std::size_t>(part)].data(); }
  // Rows of row_sparse, non-zeros of csr.
  int64_t stored() const { return values_shape().size() == 0 ? 0 : values_shape()[0]; }

  // Makes room for `stored` rows or non-zeros, in all parts; keeps no contents but those of the
  // first ones where there are as many already, in memory that is not shared. csr's indptr is
  // zeroed when nothing is stored, as a whole matrix of zeros needs. May throw Error(kOutOfMemory).
  void resize(int64_t stored, Device device, Stream* stream = nullptr);
  // One part alone, for callers that fill the parts one by one. Keeps no contents.
  void resize_part(int part, const Shape& shape, Device device, Stream* stream = nullptr);
  // Index array i of `from`, a store of the same layout, without a copy. False, and nothing is
  // changed, where that cannot be: types or devices differ, or memory of a GPU, of which one stream
  // has to be the last that used it. `device` is ours.
  bool share_aux(int i, const SparseStore& from, Device device);

  // Exchanges contents with a store of the same layout, shape and value type; index types may
  // differ.
  void swap(SparseStore& other) noexcept;

  // Gives all memory back to Storage; `stream` is where it was used last.
  void release(Stream* stream) noexcept;

 private:
  // Goes back to Storage with the last store that has it.
  struct Memory : RefCounted {
    explicit Memory(const Block& given) : block(given) {}
    ~Memory() { Storage::get().release(block, stream); }
    const Block block;
    Stream* stream = nullptr;  // where it was used last
  };
  struct Part {
    Shape shape;
    DType dtype = DType::kUnknown;
    Ref<Memory> memory;  // null where there is none
    void* data() const { return memory ? memory->block.data : nullptr; }
    void drop(Stream* stream) noexcept;
  };
  const Part& aux(int i) const { return parts_[1 + static_cast<std::size_t>(i)]; }

  const StorageType type_;
  const Shape row_shape_;   // row_sparse: shape[1:]
  const int64_t num_rows_;  // shape[0]
  std::array<Part, kMaxParts> parts_;
};

}  // namespace mxnet
