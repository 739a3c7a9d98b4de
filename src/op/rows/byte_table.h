// SPDX-License-Identifier: Apache-2.0
// Functions of one byte by a table of what they are of each: 256 calls, whatever the array's
// length.
#pragma once
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "base/byte_look_up.h"
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
  const auto table = std::bit_cast<std::array<uint8_t, 256>>(results);
  parallel_for(in.size(), 1.0, [&](int64_t first, int64_t last) {
    look_up_bytes(table.data(), static_cast<const uint8_t*>(in.data) + first,
                  static_cast<uint8_t*>(out.data) + first, last - first);
  });
}

}  // namespace mxnet
