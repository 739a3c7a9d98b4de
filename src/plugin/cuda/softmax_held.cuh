// SPDX-License-Identifier: Apache-2.0
// Softmax and its gradient of rows that a group of threads can hold: each array is read once. Of
// rows whose elements lie together, in types that are computed in float.
#pragma once
#include <cmath>

#include "plugin/cuda/held_rows.cuh"
#include "plugin/cuda/peak.cuh"

namespace mxnet {
namespace cuda {

// How many of a row's elements take part: `lengths` of one of two types, or neither, for all.
struct UsedLengths {
  int64_t length;
  const int32_t* lengths32;
  const int64_t* lengths64;

  MX_DEVICE int64_t operator()(int64_t row) const {
    int64_t n = lengths32 != nullptr   ? lengths32[row]
                : lengths64 != nullptr ? lengths64[row]
                                       : length;
    return n < 0 ? 0 : n > length ? length : n;
  }
};

template <class T>
struct HeldSoftmax {
  struct Held {
    HeldRow<T> x;
    int used;
  };
  const T* x;
  T* y;
  UsedLengths used;
  float scale;
  bool log, aligned;

  MX_DEVICE int length() const { return static_cast<int>(used.length); }
  MX_DEVICE Peak<float> take(int64_t row, int lane, int lanes, Held* held) const {
    held->used = static_cast<int>(used(row));
    held->x.load(x + row * used.length, length(), lane, lanes, aligned);
    // The largest first, so that each element costs one exponential.
    float top = -INFINITY;
    held->x.each(held->used, lane, lanes,
                 [&](int, float value) { top = row_words::larger(top, value * scale); });
    Peak<float> peak{top, 0.0f};
    held->x.each(held->used, lane, lanes, [&](int, float value) {
      // A thread that has nothing but -inf: as many as they are (joined()).
      peak.sum += top == -INFINITY ? 1.0f : row_words::exp(value * scale - top);
    });
    return peak;
  }
  MX_DEVICE Peak<float> merge(Peak<float> a, Peak<float> b) const { return joined(a, b); }
  MX_DEVICE void give(int64_t row, int lane, int lanes, const Held& held, Peak<float> peak) const {
    const float share = 1.0f / peak.sum, log_sum = log ? row_words::log(peak.sum) : 0.0f;
    HeldRow<T>::store(y + row * used.length, length(), lane, lanes, aligned,
                      [&](int pack, int k, int place) {
                        if (place >= held.used) return 0.0f;
                        const float shifted = held.x.at(pack, k) * scale - peak.top;
                        return log ? shifted - log_sum : row_words::exp(shifted) * share;
                      });
  }
};

template <class T>
struct HeldSoftmaxSlope {
  struct Held {
    HeldRow<T> dy, y;
    int used;
  };
  const T *dy, *y;
  T* dx;
  UsedLengths used;
  float scale;
  bool log, aligned;

  MX_DEVICE int length() const { return static_cast<int>(used.length); }
  // The sum of dy (log) or of dy * y.
  MX_DEVICE float take(int64_t row, int lane, int lanes, Held* held) const {
    const int64_t first = row * used.length;
    held->used = static_cast<int>(used(row));
    held->dy.load(dy + first, length(), lane, lanes, aligned);
    held->y.load(y + first, length(), lane, lanes, aligned);
    float sum = 0.0f;
#pragma unroll
    for (int pack = 0; pack < HeldRow<T>::kPacks; ++pack) {
#pragma unroll
      for (int k = 0; k < HeldRow<T>::kSize; ++k) {
        const float slope = held->dy.at(pack, k);
        if (HeldRow<T>::first_of(pack, lane, lanes) + k < held->used)
          sum += log ? slope : slope * held->y.at(pack, k);
      }
    }
    return sum;
  }
  MX_DEVICE float merge(float a, float b) const { return a + b; }
  MX_DEVICE void give(int64_t row, int lane, int lanes, const Held& held, float dot) const {
    HeldRow<T>::store(
        dx + row * used.length, length(), lane, lanes, aligned, [&](int pack, int k, int place) {
          if (place >= held.used) return 0.0f;
          const float slope = held.dy.at(pack, k), value = held.y.at(pack, k);
          return scale * (log ? slope - row_words::exp(value) * dot : (slope - dot) * value);
        });
  }
};

}  // namespace cuda
}  // namespace mxnet
