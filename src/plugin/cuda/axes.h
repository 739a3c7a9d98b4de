// SPDX-License-Identifier: Apache-2.0
// The number of an element as its places along axes, the last of which runs fastest.
#pragma once
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {

template <int kAxes>
struct Coordinates {
  int64_t at[kAxes];
  MX_DEVICE int64_t operator[](int axis) const { return at[axis]; }
};

template <int kAxes>
class Axes {
 public:
  template <class... Sizes>
  explicit Axes(Sizes... sizes) : sizes_{Divider(static_cast<int64_t>(sizes))...} {
    static_assert(sizeof...(sizes) == kAxes);
  }
  MX_DEVICE Coordinates<kAxes> operator()(int64_t i) const {
    Coordinates<kAxes> result;
    for (int axis = kAxes - 1; axis > 0; --axis) {
      const int64_t rest = sizes_[axis].quotient(i);
      result.at[axis] = i - rest * sizes_[axis].by();
      i = rest;
    }
    result.at[0] = i;
    return result;
  }
  MX_DEVICE int64_t size(int axis) const { return sizes_[axis].by(); }
  int64_t size() const {
    int64_t product = 1;
    for (const Divider& size : sizes_) product *= size.by();
    return product;
  }

 private:
  Divider sizes_[kAxes];
};

}  // namespace cuda
}  // namespace mxnet
