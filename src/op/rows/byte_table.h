// SPDX-License-Identifier: Apache-2.0
// Functions of one byte by a table of what they are of each: 256 calls, whatever the array's
// length.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "op/kernel.h"
#include "op/run/parallel.h"

namespace mxnet {

// Below this the table takes longer than the elements.
inline constexpr int64_t kTableFrom = 1024;

template <class T>
inline constexpr bool kIsByte = std::integral<T> && sizeof(T) == 1;

// fill(values, results) computes the function of 256 values.
template <class T, class F>
void run_by_table(const Tensor& in, const Tensor& out, const F& fill) {
  std::array<T, 256> values, results;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i);
  fill(values.data(), results.data());
  parallel_for(in.size(), 1.0, [&](int64_t first, int64_t last) {
    const T* x = in.as<T>();
    T* y = out.as<T>();
    int64_t i = first;
    for (; i + 8 <= last; i += 8) {  // one store of eight: each byte's could be to any array
      uint64_t from, to = 0;
      std::memcpy(&from, x + i, sizeof(from));
      for (int shift = 0; shift < 64; shift += 8)
        to |= uint64_t{static_cast<uint8_t>(results[from >> shift & 0xff])} << shift;
      std::memcpy(y + i, &to, sizeof(to));
    }
    for (; i < last; ++i) y[i] = results[static_cast<uint8_t>(x[i])];
  });
}

}  // namespace mxnet
