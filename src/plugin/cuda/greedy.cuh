// SPDX-License-Identifier: Apache-2.0
// What is left of many overlapping boxes is found greedily: the best box decides first, so it takes
// a round for each that takes part, in order of their keys.
#pragma once
#include <limits>

#include "plugin/cuda/launch.cuh"

namespace mxnet {
namespace cuda {

template <class T>
inline constexpr T kNone =
    -std::numeric_limits<T>::infinity();  // the key of what does not take part

// How many of a line's places, in order of their keys, take part: rounds are for these alone.
template <class T>
MX_DEVICE int64_t taking_part(const T* keys, const int64_t* places, int64_t count) {
  int64_t first = 0, last = count;
  while (first < last) {
    const int64_t middle = (first + last) / 2;
    if (keys[places[middle]] > kNone<T>)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

}  // namespace cuda
}  // namespace mxnet
