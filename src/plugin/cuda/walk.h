// SPDX-License-Identifier: Apache-2.0
// Positions of several arrays that are walked together: from the number of an element to its offset
// in each. Dimensions that behave alike are merged; divisions are multiplications.
#pragma once
#include <cstdint>

#include "base/shape.h"
#include "plugin/cuda/row_words.h"

namespace mxnet {
namespace cuda {

// Division by a number that many threads share. Exact for dividends below 2^31; larger ones take
// the slow way.
class Divider {
 public:
  Divider() = default;
  explicit Divider(int64_t by) : by_(by) {
    while (shift_ < 31 && (int64_t{1} << shift_) < by) ++shift_;
    if (by > 0 && by <= INT32_MAX) {
      const uint64_t one = 1;
      multiplier_ =
          static_cast<uint32_t>(((one << 32) * ((one << shift_) - static_cast<uint64_t>(by))) /
                                    static_cast<uint64_t>(by) +
                                1);
    }
  }
  MX_DEVICE int64_t by() const { return by_; }
  MX_DEVICE int64_t quotient(int64_t x) const {
    if (x > INT32_MAX || by_ > INT32_MAX) return x / by_;
    const uint64_t high = (static_cast<uint64_t>(x) * multiplier_) >> 32;
    return static_cast<int64_t>((high + static_cast<uint64_t>(x)) >> shift_);
  }

 private:
  int64_t by_ = 1;
  uint32_t multiplier_ = 1;
  int shift_ = 0;
};

// kArrays step counts for each dimension, outermost first; passed to kernels by value.
template <int kArrays>
struct Walk {
  static constexpr int kMax = Shape::kMaxDims;
  int ndim = 0;
  Divider sizes[kMax];
  int64_t steps[kMax][kArrays];

  // REQUIRES: outermost first. Joins the dimension to the one around it where all arrays allow.
  void add(int64_t size, const int64_t (&step)[kArrays]) {
    if (size == 1) return;
    if (ndim > 0) {
      bool joins = true;
      for (int a = 0; a < kArrays; ++a) joins &= steps[ndim - 1][a] == step[a] * size;
      if (joins) {
        sizes[ndim - 1] = Divider(sizes[ndim - 1].by() * size);
        for (int a = 0; a < kArrays; ++a) steps[ndim - 1][a] = step[a];
        return;
      }
    }
    sizes[ndim] = Divider(size);
    for (int a = 0; a < kArrays; ++a) steps[ndim][a] = step[a];
    ++ndim;
  }
  MX_DEVICE void offsets(int64_t i, int64_t (&at)[kArrays]) const {
    for (int a = 0; a < kArrays; ++a) at[a] = 0;
    for (int d = ndim - 1; d > 0; --d) {
      const int64_t rest = sizes[d].quotient(i);
      const int64_t index = i - rest * sizes[d].by();
      for (int a = 0; a < kArrays; ++a) at[a] += index * steps[d][a];
      i = rest;
    }
    if (ndim > 0)
      for (int a = 0; a < kArrays; ++a) at[a] += i * steps[0][a];
  }
};

// Over `out`, with arrays of these shapes, which broadcast to it; null is a number.
template <int kArrays>
Walk<kArrays> broadcast_walk(const Shape* const (&from)[kArrays], const Shape& out) {
  int64_t steps[Shape::kMaxDims][kArrays];
  for (int k = 0; k < kArrays; ++k) {
    const int ndim = from[k] == nullptr ? 0 : from[k]->ndim();
    int64_t step = 1;
    for (int d = out.ndim() - 1; d >= 0; --d) {
      const int at = d - (out.ndim() - ndim);
      const int64_t size = at >= 0 ? (*from[k])[at] : 1;
      steps[d][k] = size == 1 ? 0 : step;
      step *= size;
    }
  }
  Walk<kArrays> walk;
  for (int d = 0; d < out.ndim(); ++d) walk.add(out[d], steps[d]);
  return walk;
}

}  // namespace cuda
}  // namespace mxnet
