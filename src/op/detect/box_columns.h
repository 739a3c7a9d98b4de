// SPDX-License-Identifier: Apache-2.0
// Many boxes that one is compared with: their edges as columns, so that comparisons are vectors.
#pragma once
#include <cstdint>
#include <vector>

#include "op/detect/boxes.h"

namespace mxnet::detect {

// T is float or double.
template <class T>
class BoxColumns {
 public:
  // box(i) for 0 <= i < n
  template <class F>
  BoxColumns(int64_t n, const F& box) : memory_(static_cast<std::size_t>(5 * n)), size_(n) {
    for (int64_t i = 0; i < n; ++i) {
      const Box<T> b = box(i);
      const T numbers[] = {b.left, b.top, b.right, b.bottom, b.area()};
      for (int64_t k = 0; k < 5; ++k) memory_[static_cast<std::size_t>(k * n + i)] = numbers[k];
    }
  }
  int64_t size() const { return size_; }
  Box<T> box(int64_t i) const {
    const auto number = [&](int64_t k) { return memory_[static_cast<std::size_t>(k * size_ + i)]; };
    return {number(0), number(1), number(2), number(3)};
  }

  // out[i - first] = iou(box, i), the same number as iou(Box, Box) gives.
  void iou(const Box<T>& box, int64_t first, int64_t last, T* out) const;

 private:
  std::vector<T> memory_;  // left, top, right, bottom, area
  const int64_t size_;
};

}  // namespace mxnet::detect
