// SPDX-License-Identifier: Apache-2.0
// Sizes and blocks of the parts.
#include "ndarray/sparse_store.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"

namespace mxnet {
namespace {

const Shape& require_layout(StorageType type, const Shape& shape) {
  const bool fits = type == StorageType::kCSR ? shape.ndim() == 2 : shape.ndim() >= 1;
  if (!fits || !shape.known()) {
    throw Error(
        ErrorCode::kValue, "NDArray",
        fmt::format("given a {} array of shape {}, expected {}", storage_type_name(type),
                    to_string(shape),
                    type == StorageType::kCSR ? "two dimensions" : "at least one dimension"));
  }
  return shape;
}

Shape tail_of(const Shape& shape) { return Shape(shape.dims().subspan(1)); }

Shape with_rows(int64_t rows, const Shape& row_shape) {
  Shape shape{rows};
  for (int64_t dim : row_shape) shape.push_back(dim);
  return shape;
}

}  // namespace

SparseStore::SparseStore(StorageType type, const Shape& shape, DType dtype,
                         std::array<DType, 2> aux_dtypes)
    : type_(type), row_shape_(tail_of(require_layout(type, shape))), num_rows_(shape[0]) {
  MX_ASSERT(num_aux() > 0);
  parts_[kValues].dtype = dtype;
  parts_[kValues].shape = type == StorageType::kCSR ? Shape{0} : with_rows(0, row_shape_);
  for (int i = 0; i < num_aux(); ++i) {
    const DType aux = aux_dtypes[static_cast<std::size_t>(i)];
    if (aux != DType::kInt32 && aux != DType::kInt64) {
      throw Error(ErrorCode::kType, "NDArray",
                  fmt::format("given indices of {}, expected int32 or int64", dtype_name(aux)));
    }
    Part& part = parts_[std::size_t{1} + static_cast<std::size_t>(i)];
    part.dtype = aux;
    part.shape = Shape{0};
  }
}

std::size_t SparseStore::part_bytes(int part) const {
  const Part& p = parts_[static_cast<std::size_t>(part)];
  return static_cast<std::size_t>(p.shape.size()) * dtype_size(p.dtype);
}

void* SparseStore::own_aux(int i) const {
  const Part& part = aux(i);
  MX_ASSERT(!part.memory || part.memory->unique());
  return part.data();
}

void SparseStore::resize(int64_t stored, Device device, Stream* stream) {
  if (type_ == StorageType::kRowSparse) {
    resize_part(kValues, with_rows(stored, row_shape_), device, stream);
    resize_part(1 + kRows, Shape{stored}, device, stream);
    return;
  }
  resize_part(kValues, Shape{stored}, device, stream);
  resize_part(1 + kIndices, Shape{stored}, device, stream);
  // An empty indptr means zeros: a device cannot be filled from here.
  resize_part(1 + kIndptr, Shape{stored == 0 && device.is_gpu() ? 0 : num_rows_ + 1}, device,
              stream);
  if (stored == 0 && !device.is_gpu()) std::memset(own_aux(kIndptr), 0, part_bytes(1 + kIndptr));
}

void SparseStore::resize_part(int part, const Shape& shape, Device device, Stream* stream) {
  MX_ASSERT(part >= 0 && part < num_parts());
  Part& p = parts_[static_cast<std::size_t>(part)];
  int64_t bytes;
  if (__builtin_mul_overflow(shape.size(), static_cast<int64_t>(dtype_size(p.dtype)), &bytes)) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("given shape {} of {}, expected at most 2^63-1 bytes", to_string(shape),
                            dtype_name(p.dtype)));
  }
  const auto wanted = static_cast<std::size_t>(bytes);
  if (p.memory && (!p.memory->unique() || wanted > p.memory->block.capacity)) p.drop(stream);
  if (!p.memory && wanted > 0) {
    p.shape = Shape{0};
    p.memory = make_ref<Memory>(Storage::get().allocate(
        wanted, device, part == kValues ? "sparse values" : "sparse indices", stream));
  }
  p.shape = shape;
}

bool SparseStore::share_aux(int i, const SparseStore& from, Device device) {
  Part& to = parts_[std::size_t{1} + static_cast<std::size_t>(i)];
  const Part& source = from.aux(i);
  const bool there = source.memory && source.memory->block.device != device;
  if (to.dtype != source.dtype || there || device.is_gpu()) return false;
  to.memory = source.memory;
  to.shape = source.shape;
  return true;
}

void SparseStore::swap(SparseStore& other) noexcept {
  MX_ASSERT(type_ == other.type_ && num_rows_ == other.num_rows_ && dtype() == other.dtype());
  parts_.swap(other.parts_);
}

void SparseStore::release(Stream* stream) noexcept {
  for (Part& part : parts_) part.drop(stream);
}

// Before new memory is asked for: a full device may need this one.
void SparseStore::Part::drop(Stream* stream) noexcept {
  if (memory && stream != nullptr) memory->stream = stream;  // of a device: nobody else has it
  memory = {};
}

}  // namespace mxnet
