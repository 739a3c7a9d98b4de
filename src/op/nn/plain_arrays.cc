// SPDX-License-Identifier: Apache-2.0
// Widening of half types and permuting of channels around plain kernels.
#include "op/nn/plain_arrays.h"

#include <algorithm>

#include "base/error.h"
#include "op/loops/half_arrays.h"
#include "op/moving/strided_copy.h"

namespace mxnet {
namespace {

template <class T>
constexpr DType kNative = sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;

void widen(const Tensor& array, float* to) {
  mxnet::widen(array.dtype, array.data, to, array.size());
}
void narrow(const float* from, const Tensor& array) {
  mxnet::narrow(from, array.dtype, array.data, array.size());
}

// Half types are float only.
void widen(const Tensor&, double*) { MX_ASSERT(false); }
void narrow(const double*, const Tensor&) { MX_ASSERT(false); }

// (outer, spatial, inner) to (outer, inner, spatial).
StridedPlan channels_to_front(const Shape& shape) {
  const int64_t inner = shape.back(), spatial = shape.size(1, shape.ndim() - 1);
  StridedPlan plan;
  plan.add(shape[0], spatial * inner, spatial * inner);
  plan.add(inner, 1, spatial);
  plan.add(spatial, inner, 1);
  return plan;
}

}  // namespace

template <class T>
const T* PlainArrays<T>::in(const Tensor& array) const {
  const T* values = array.as<const T>();
  if (array.dtype != kNative<T>) {
    T* wide = context_.workspace_of<T>(std::max<int64_t>(array.size(), 1));
    widen(array, wide);
    values = wide;
  }
  if (permuted(array) && array.size() > 0) {
    T* front = context_.workspace_of<T>(array.size());
    copy_strided(channels_to_front(array.shape()), values, front, sizeof(T));
    values = front;
  }
  return values;
}

template <class T>
T* PlainArrays<T>::out(const Tensor& array) {
  if (array.dtype == kNative<T> && !permuted(array)) return array.as<T>();
  T* values = context_.workspace_of<T>(std::max<int64_t>(array.size(), 1));
  pending_[static_cast<std::size_t>(num_pending_++)] = {array, values};
  return values;
}

template <class T>
void PlainArrays<T>::finish() {
  for (int i = 0; i < num_pending_; ++i) {
    const Tensor& array = pending_[static_cast<std::size_t>(i)].array;
    const T* values = pending_[static_cast<std::size_t>(i)].values;
    if (array.size() == 0) continue;
    const bool native = array.dtype == kNative<T>;
    if (permuted(array)) {
      T* ordered = native ? array.as<T>() : context_.workspace_of<T>(array.size());
      copy_strided(channels_to_front(array.shape()).reversed(), values, ordered, sizeof(T));
      values = ordered;
    }
    if (!native) narrow(values, array);
  }
}

template class PlainArrays<float>;
template class PlainArrays<double>;

}  // namespace mxnet
