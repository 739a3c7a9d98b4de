// SPDX-License-Identifier: Apache-2.0
// Making arrays, and views of them.
#include "ndarray/ndarray.h"

#include <fmt/format.h>

#include "base/error.h"
#include "ndarray/sparse_store.h"

namespace mxnet {
namespace {

std::size_t checked_bytes(const Shape& shape, DType dtype) {
  MX_ASSERT(shape.known() && dtype != DType::kUnknown);
  int64_t bytes;
  if (__builtin_mul_overflow(shape.size(), static_cast<int64_t>(dtype_size(dtype)), &bytes)) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("given shape {} of {}, expected at most 2^63-1 bytes", to_string(shape),
                            dtype_name(dtype)));
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace

void require_data(const NDArray& array, const char* what) {
  if (array.is_none())
    throw Error(ErrorCode::kValue, "NDArray", fmt::format("{}: given an array without data", what));
}

void require_dense(const NDArray& array, const char* what) {
  require_data(array, what);
  if (array.is_sparse()) {
    throw Error(ErrorCode::kType, "NDArray",
                fmt::format("{}: given a {} array, expected a dense one", what,
                            storage_type_name(array.storage_type())));
  }
}

NDArray TapeInfo::gradient() const { return {}; }

NDArray::NDArray(Shape shape, DType dtype, Device device, const char* tag)
    : chunk_(make_ref<Chunk>(device, checked_bytes(shape, dtype), tag)),
      shape_(std::move(shape)),
      dtype_(dtype) {}

NDArray::NDArray(StorageType type, Shape shape, DType dtype, Device device,
                 std::array<DType, 2> aux_dtypes)
    : chunk_(
          make_ref<Chunk>(device, std::make_unique<SparseStore>(type, shape, dtype, aux_dtypes))),
      shape_(std::move(shape)),
      dtype_(dtype) {}

NDArray::NDArray(Ref<Chunk> chunk, std::size_t offset, Shape shape, DType dtype)
    : chunk_(std::move(chunk)), offset_(offset), shape_(std::move(shape)), dtype_(dtype) {}

NDArray NDArray::slice(int64_t begin, int64_t end) const {
  require_dense(*this, "slice");
  if (shape_.ndim() < 1)
    throw Error(ErrorCode::kIndex, "NDArray",
                "slice: given a scalar, expected at least one dimension");
  if (begin < 0 || begin > end || end > shape_[0]) {
    throw Error(ErrorCode::kIndex, "NDArray",
                fmt::format("slice: given [{}, {}) of {} rows, expected 0 <= begin <= end <= {}",
                            begin, end, shape_[0], shape_[0]));
  }
  NDArray view = detach();
  view.shape_[0] = end - begin;
  view.offset_ +=
      static_cast<std::size_t>(begin * shape_.size(1, shape_.ndim())) * dtype_size(dtype_);
  return view;
}

NDArray NDArray::at(int64_t index) const {
  require_dense(*this, "at");
  if (shape_.ndim() < 1 || index < 0 || index >= shape_[0]) {
    throw Error(
        ErrorCode::kIndex, "NDArray",
        fmt::format("at: given index {} of shape {}, expected one below its first dimension", index,
                    to_string(shape_)));
  }
  NDArray view = slice(index, index + 1);
  view.shape_ = Shape(shape_.dims().subspan(1));
  return view;
}

NDArray NDArray::reshape(const Shape& shape) const {
  require_dense(*this, "reshape");
  if (!shape.known() || shape.size() != size()) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("reshape: given {}, expected {} elements as in {}", to_string(shape),
                            size(), to_string(shape_)));
  }
  NDArray view = detach();
  view.shape_ = shape;
  return view;
}

NDArray NDArray::view_as(Shape shape, DType dtype) const {
  require_dense(*this, "view");
  const std::size_t bytes = checked_bytes(shape, dtype);
  if (bytes > chunk_->bytes() - offset_) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("view: given {} of {} ({} bytes), expected at most {} bytes",
                            to_string(shape), dtype_name(dtype), bytes, chunk_->bytes() - offset_));
  }
  return NDArray(chunk_, offset_, std::move(shape), dtype);
}

NDArray NDArray::detach() const { return NDArray(chunk_, offset_, shape_, dtype_); }

}  // namespace mxnet
