// SPDX-License-Identifier: Apache-2.0
// Views, waits and copies of arrays.
#include "ndarray/ndarray.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "base/error.h"
#include "device/device_copy.h"

namespace mxnet {
namespace {

void require_data(const NDArray& array, const char* what) {
  if (array.is_none())
    throw Error(ErrorCode::kValue, "NDArray", fmt::format("{}: given an array without data", what));
}

// An empty operation that the caller waits for through the variable.
void wait_until_written(Var* var, Device device) {
  Engine& engine = Engine::get();
  const std::array<Var*, 1> writes{var};
  engine.push(
      [](const RunContext&) {},
      {.device = device, .reads = {}, .writes = writes, .name = "WaitToWrite", .cheap = true});
  engine.wait_for_var(var);
}

}  // namespace

NDArray::NDArray(Shape shape, DType dtype, Device device, const char* tag)
    : shape_(std::move(shape)), dtype_(dtype) {
  MX_ASSERT(shape_.known() && dtype != DType::kUnknown);
  int64_t bytes;
  if (__builtin_mul_overflow(shape_.size(), static_cast<int64_t>(dtype_size(dtype)), &bytes)) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("given shape {} of {}, expected at most 2^63-1 bytes",
                            to_string(shape_), dtype_name(dtype)));
  }
  chunk_ = make_ref<Chunk>(device, static_cast<std::size_t>(bytes), tag);
}

NDArray::NDArray(Ref<Chunk> chunk, std::size_t offset, Shape shape, DType dtype)
    : chunk_(std::move(chunk)), offset_(offset), shape_(std::move(shape)), dtype_(dtype) {}

NDArray NDArray::slice(int64_t begin, int64_t end) const {
  require_data(*this, "slice");
  if (shape_.ndim() < 1)
    throw Error(ErrorCode::kValue, "NDArray",
                "slice: given a scalar, expected at least one dimension");
  if (begin < 0 || begin > end || end > shape_[0]) {
    throw Error(ErrorCode::kIndex, "NDArray",
                fmt::format("slice: given [{}, {}) of {} rows, expected 0 <= begin <= end <= {}",
                            begin, end, shape_[0], shape_[0]));
  }
  NDArray view = *this;
  view.tape_ = {};
  view.shape_[0] = end - begin;
  view.offset_ +=
      static_cast<std::size_t>(begin * shape_.size(1, shape_.ndim())) * dtype_size(dtype_);
  return view;
}

NDArray NDArray::at(int64_t index) const {
  require_data(*this, "at");
  if (shape_.ndim() < 1 || index < 0 || index >= shape_[0]) {
    throw Error(ErrorCode::kIndex, "NDArray",
                fmt::format("at: given index {} of shape {}", index, to_string(shape_)));
  }
  NDArray view = slice(index, index + 1);
  // Without scalars, a row of a one-dimensional array is an array of one element.
  view.shape_ = shape_.ndim() > 1 ? Shape(shape_.dims().subspan(1)) : Shape{1};
  return view;
}

NDArray NDArray::reshape(const Shape& shape) const {
  require_data(*this, "reshape");
  if (!shape.known() || shape.size() != size()) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("reshape: given {}, expected {} elements as in {}", to_string(shape),
                            size(), to_string(shape_)));
  }
  NDArray view = *this;
  view.tape_ = {};
  view.shape_ = shape;
  return view;
}

NDArray NDArray::view_as(Shape shape, DType dtype) const {
  require_data(*this, "view");
  const std::size_t bytes = static_cast<std::size_t>(shape.size()) * dtype_size(dtype);
  if (offset_ + bytes > chunk_->bytes()) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("view: given {} of {} ({} bytes), expected at most {} bytes",
                            to_string(shape), dtype_name(dtype), bytes, chunk_->bytes() - offset_));
  }
  return NDArray(chunk_, offset_, std::move(shape), dtype);
}

void NDArray::wait_to_read() const {
  if (chunk_) Engine::get().wait_for_var(chunk_->var());
}

void NDArray::wait_to_write() const {
  if (chunk_) wait_until_written(chunk_->var(), device());
}

void NDArray::sync_copy_from(const void* data, int64_t count) {
  require_data(*this, "copy from host");
  if (count != size()) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("copy from host: given {} elements, expected {} for {}", count, size(),
                            to_string(shape_)));
  }
  wait_to_write();
  if (count > 0) copy(this->data(), device(), data, Device::cpu(), bytes());
}

void NDArray::sync_copy_to(void* data, int64_t count) const {
  require_data(*this, "copy to host");
  if (count != size()) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("copy to host: given room for {} elements, expected {} for {}", count,
                            size(), to_string(shape_)));
  }
  wait_to_read();
  if (count > 0) copy(data, Device::cpu(), this->data(), device(), bytes());
}

void NDArray::copy_to(const NDArray& to, int priority) const {
  require_data(*this, "copy");
  require_data(to, "copy");
  if (to.shape_ != shape_ || to.dtype_ != dtype_) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("copy: given {} {} into {} {}, expected equal shapes and types",
                            dtype_name(dtype_), to_string(shape_), dtype_name(to.dtype_),
                            to_string(to.shape_)));
  }
  if (to.chunk_ == chunk_ && to.offset_ == offset_) return;
  const std::array<Var*, 1> reads{var()}, writes{to.var()};
  const bool same_var = var() == to.var();
  FnProperty property = FnProperty::kNormal;
  if (device().is_gpu() && !to.device().is_gpu()) property = FnProperty::kCopyFromGPU;
  if (!device().is_gpu() && to.device().is_gpu()) property = FnProperty::kCopyToGPU;
  Engine::get().push(
      [from = *this, to](const RunContext& context) {
        copy(to.data(), to.device(), from.data(), from.device(), from.bytes(),
                    context.stream);
      },
      {.device = to.device().is_gpu() ? to.device() : device(),
       .reads = same_var ? std::span<Var* const>{} : std::span<Var* const>(reads),
       .writes = writes,
       .property = property,
       .priority = priority,
       .name = "Copy",
       .cheap = bytes() <= 65536 && property == FnProperty::kNormal});
}

}  // namespace mxnet
