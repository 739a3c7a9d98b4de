// SPDX-License-Identifier: Apache-2.0
// Shape's storage and text.
#include "base/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace mxnet {

Shape::Shape(std::span<const int64_t> dims) {
  resize(static_cast<int>(std::min<std::size_t>(dims.size(), kMaxDims + 1)));
  std::copy(dims.begin(), dims.end(), data());
}

Shape::Shape(int ndim, int64_t fill) {
  resize(ndim);
  std::fill_n(data(), std::max(ndim, 0), fill);
}

void Shape::copy_heap(const Shape& other) {
  if (this == &other) return;
  resize(other.ndim_);
  std::copy(other.begin(), other.end(), data());
}

void Shape::resize(int ndim) {
  if (ndim > kMaxDims) {
    throw Error(
        ErrorCode::kValue, "Shape",
        fmt::format("given more than {} dimensions, expected at most {}", kMaxDims, kMaxDims));
  }
  if (ndim > kInlineDims && heap_ == nullptr) heap_ = std::make_unique<int64_t[]>(kMaxDims);
  if (ndim <= kInlineDims) heap_.reset();
  ndim_ = ndim;
}

int64_t Shape::size() const {
  int64_t product = 1;
  for (const int64_t dim : dims())
    if (__builtin_mul_overflow(product, dim, &product)) [[unlikely]]
      return size(0, ndim_);
  return product;
}

int64_t Shape::size(int first, int last) const {
  int64_t product = 1;
  for (int i = first; i < last; ++i) {
    if (__builtin_mul_overflow(product, data()[i], &product)) {
      // A zero elsewhere makes the product zero however large the others are.
      if (std::find(begin() + first, begin() + last, 0) != begin() + last) return 0;
      throw Error(ErrorCode::kValue, "Shape",
                  fmt::format("given {}, expected at most 2^63-1 elements", to_string(*this)));
    }
  }
  return product;
}

void Shape::push_back(int64_t dim) {
  const int n = std::max(ndim_, 0);
  if (n < kInlineDims && !heap_) [[likely]] {
    inline_[static_cast<std::size_t>(n)] = dim;
    ndim_ = n + 1;
    return;
  }
  std::array<int64_t, kMaxDims + 1> dims;
  std::copy(begin(), end(), dims.begin());
  dims[static_cast<std::size_t>(n)] = dim;
  resize(n + 1);
  std::copy_n(dims.begin(), n + 1, data());
}

std::string to_string(const Shape& shape) {
  if (!shape.rank_known()) return "None";
  std::string text = "(";
  for (int i = 0; i < shape.ndim(); ++i) {
    if (i > 0) text += ',';
    text += shape[i] < 0 ? std::string("?") : std::to_string(shape[i]);
  }
  if (shape.ndim() == 1) text += ',';
  return text + ")";
}

int normalize_axis(int64_t axis, int ndim, const char* tag) {
  if (axis < -ndim || axis >= ndim) {
    throw Error(ErrorCode::kValue, tag,
                fmt::format("given axis {} for {} dimensions, expected {} <= axis < {}", axis, ndim,
                            -ndim, ndim));
  }
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

}  // namespace mxnet
