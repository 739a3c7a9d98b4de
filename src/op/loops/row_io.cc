// SPDX-License-Identifier: Apache-2.0
// Conversion and gathering of rows.
#include "op/loops/row_io.h"

#include <algorithm>
#include <type_traits>

#include "base/half_bulk.h"
#include "op/loops/convert.h"
#include "op/run/dispatch.h"

namespace mxnet {
namespace {

template <class T>
constexpr bool kHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

template <class To, class From>
void convert_row(const From* from, To* to, int64_t n) {
  if constexpr ((kHalf<From> && std::is_same_v<To, float>) ||
                (std::is_same_v<From, float> && kHalf<To>)) {
    mxnet::convert(from, to, static_cast<std::size_t>(n));
  } else {
    convert_array(from, to, n);
  }
}

}  // namespace

RowLayout rows_along(const Shape& shape, int axis) {
  RowLayout layout{1, shape[axis], 1};
  for (int i = 0; i < axis; ++i) layout.outer *= shape[i];
  for (int i = axis + 1; i < shape.ndim(); ++i) layout.inner *= shape[i];
  return layout;
}

RowLayout rows_behind(const Shape& shape, int axes) {
  RowLayout layout;
  for (int i = 0; i < shape.ndim(); ++i) (i < axes ? layout.outer : layout.length) *= shape[i];
  return layout;
}

template <class C>
bool lies_ready(const Tensor& tensor, int64_t step) {
  return step == 1 &&
         tensor.dtype == (std::is_same_v<C, float> ? DType::kFloat32 : DType::kFloat64);
}

template <class C>
const C* read_elements(const Tensor& tensor, int64_t at, int64_t n, int64_t step, C* buffer) {
  if (lies_ready<C>(tensor, step)) return tensor.as<C>() + at;
  dispatch_dtype<kFloating>(tensor.dtype, "rows", [&]<class T>(TypeTag<T>) {
    const T* from = tensor.as<T>() + at;
    if (step == 1) return convert_row(from, buffer, n);
    for (int64_t i = 0; i < n; ++i) buffer[i] = convert<C>(from[i * step]);
  });
  return buffer;
}

template <class C>
C* place_elements(const Tensor& tensor, int64_t at, int64_t step, C* buffer) {
  return lies_ready<C>(tensor, step) ? tensor.as<C>() + at : buffer;
}

template <class C>
void write_elements(const Tensor& tensor, int64_t at, int64_t n, int64_t step, const C* from) {
  if (lies_ready<C>(tensor, step) && tensor.as<C>() + at == from) return;
  dispatch_dtype<kFloating>(tensor.dtype, "rows", [&]<class T>(TypeTag<T>) {
    T* to = tensor.as<T>() + at;
    if (step == 1) return convert_row(from, to, n);
    for (int64_t i = 0; i < n; ++i) to[i * step] = convert<T>(from[i]);
  });
}

template <class C>
RowBlock<C>::RowBlock(const Tensor& tensor, const RowLayout& layout, int64_t last)
    : tensor_(tensor), layout_(layout), last_(last), most_(last) {
  constexpr int64_t kElements = 1024;
  if (lies_ready<C>(tensor, layout.inner)) return;
  const int64_t length = std::max(layout.length, int64_t{1});
  most_ = layout.inner > 1 ? 1 : std::max(kElements / length, int64_t{1});
  buffer_.resize(static_cast<std::size_t>(std::min(most_, last) * layout.length));
}
template <class C>
void RowBlock<C>::begin_at(int64_t row) {
  begin_ = row;
  end_ = std::min(row + most_, last_);
}
template <class C>
void RowReader<C>::read_from(int64_t row) {
  this->begin_at(row);
  values_ = read_elements(this->tensor_, this->first(), this->elements(), this->layout_.inner,
                          this->buffer_.data());
}
template <class C>
void RowWriter<C>::place_from(int64_t row) {
  this->begin_at(row);
  values_ = place_elements(this->tensor_, this->first(), this->layout_.inner, this->buffer_.data());
}
template <class C>
void RowWriter<C>::write() const {
  write_elements(this->tensor_, this->first(), this->elements(), this->layout_.inner, values_);
}

#define MX_ROW_TYPE(C)                                                              \
  template bool lies_ready<C>(const Tensor&, int64_t);                              \
  template const C* read_elements(const Tensor&, int64_t, int64_t, int64_t, C*);    \
  template C* place_elements(const Tensor&, int64_t, int64_t, C*);                  \
  template void write_elements(const Tensor&, int64_t, int64_t, int64_t, const C*); \
  template class RowBlock<C>;                                                       \
  template class RowReader<C>;                                                      \
  template class RowWriter<C>;
MX_ROW_TYPE(float)
MX_ROW_TYPE(double)
#undef MX_ROW_TYPE

double read_element(const Tensor& tensor, int64_t at) {
  return dispatch_dtype<kNumeric>(tensor.dtype, "element", [&]<class T>(TypeTag<T>) {
    return convert<double>(tensor.as<T>()[at]);
  });
}

void write_element(const Tensor& tensor, int64_t at, double value) {
  if (tensor.dtype == DType::kFloat32) {  // the usual, one for each row
    tensor.as<float>()[at] = static_cast<float>(value);
    return;
  }
  dispatch_dtype<kFloating>(tensor.dtype, "element",
                            [&]<class T>(TypeTag<T>) { tensor.as<T>()[at] = convert<T>(value); });
}

}  // namespace mxnet
