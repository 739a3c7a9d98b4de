// SPDX-License-Identifier: Apache-2.0
// Runs loops of float, or of double, over arrays of other types: a block at a time is converted
// into cache, computed and converted back.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "op/loops/convert.h"

namespace mxnet {

// 2 KiB a buffer of float: several fit the first-level cache.
inline constexpr int64_t kBlock = 512;

// loop(inputs of Number..., Number* out, n) over `out` and the equally long `in`s.
template <class Number, class To, class Loop, class... From>
void through(Loop loop, To* out, int64_t n, const From*... in) {
  std::array<std::array<Number, kBlock>, sizeof...(From)> buffers;
  std::array<Number, kBlock> result;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    std::size_t b = 0;
    (convert_array(in + start, buffers[b++].data(), count), ...);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      loop(buffers[I].data()..., result.data(), count);
    }
    (std::index_sequence_for<From...>{});
    convert_array(result.data(), out + start, count);
  }
}

template <class To, class Loop, class... From>
void through_float(Loop loop, To* out, int64_t n, const From*... in) {
  through<float>(loop, out, n, in...);
}

}  // namespace mxnet
