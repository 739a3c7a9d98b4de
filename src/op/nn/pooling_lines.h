// SPDX-License-Identifier: Apache-2.0
// Inner loops of pooling, over lines of an image or a map, compiled for each instruction set.
#pragma once
#include <cstdint>
#include <type_traits>

namespace mxnet {

// T is float or double. Pixels of a plane are counted in integers of the same size, so that a
// vector register holds as many of both.
template <class T>
struct PoolLines {
  using Pixel = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

  // to[i] = the larger of both, from[i * stride] being the other; NaN there gives way.
  void (*raise)(T* to, const T* from, int64_t stride, int64_t n);
  // to[i] += from[i * stride]
  void (*add)(T* to, const T* from, int64_t stride, int64_t n);
  // to[i] += from[i]^2
  void (*add_squares)(T* to, const T* from, int64_t n);
  // best[i] = the greatest of pixels[k][i] for k below `count`, which[i] = the first k of that, or
  // first[i] where nothing is greater than -inf. n: whole vectors of 64 bytes.
  void (*find)(T* best, Pixel* which, const Pixel* first, const T* const* pixels, int64_t count,
               int64_t n);
  // A window whose n channels lie together: to[pixels[k] + c] += heads[c] for the first k of the
  // greatest from[pixels[k] + c], or for k = 0 where nothing is greater than -inf. `sees_zero`: for
  // none where that is less than 0. `room`: how many numbers may be read from `from` on.
  void (*spread_window)(const T* from, T* to, const int64_t* pixels, int64_t count, const T* heads,
                        int64_t n, bool sees_zero, int64_t room);
  // Of one window: its first greatest number becomes `best`, if it is larger, and its
  // place is returned; else -1.
  int64_t (*find_first)(T* best, const T* from, int64_t n);
  // to[i] += from[i - k] for each k below `count` where which[i - k] is first + k * step. n as
  // above.
  void (*add_where)(T* to, int64_t n, const T* from, const Pixel* which, Pixel first, Pixel step,
                    int64_t count);
  // n pairs taken apart, and put together again.
  void (*part)(const T* pairs, T* even, T* odd, int64_t n);
  void (*weave)(const T* even, const T* odd, T* pairs, int64_t n);
  // The gradient of maxima of n windows of 2 x 2 pixels that tile two lines: a pixel of to_upper
  // and to_lower becomes its window's head where it is the first greatest number of that, else 0.
  void (*spread_of_four)(const T* upper, const T* lower, const T* heads, T* to_upper, T* to_lower,
                         int64_t n);
};
template <class T>
const PoolLines<T>& pool_lines();

}  // namespace mxnet
