// SPDX-License-Identifier: Apache-2.0
// One loop.
#include "op/detect/box_columns.h"

namespace mxnet::detect {

// std::min and std::max without references, which keep a loop from being vectors.
template <class T>
static T less(T a, T b) {
  return b < a ? b : a;
}
template <class T>
static T greater(T a, T b) {
  return a < b ? b : a;
}

template <class T>
void BoxColumns<T>::iou(const Box<T>& box, int64_t first, int64_t last, T* out) const {
  const T *left = memory_.data(), *top = left + size_, *right = top + size_;
  const T *bottom = right + size_, *area = bottom + size_;
  const Box<T> own = box;
  const T own_area = own.area();
#pragma omp simd
  for (int64_t i = first; i < last; ++i) {
    const T w = less(own.right, right[i]) - greater(own.left, left[i]);
    const T h = less(own.bottom, bottom[i]) - greater(own.top, top[i]);
    const T product = w * h, common = ((w < 0) | (h < 0)) ? T{0} : product;
    const T all = own_area + area[i] - common, ratio = common / all;
    out[i - first] = all <= 0 ? T{0} : ratio;
  }
}

template class BoxColumns<float>;
template class BoxColumns<double>;

}  // namespace mxnet::detect
