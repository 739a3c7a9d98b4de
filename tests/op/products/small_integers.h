// SPDX-License-Identifier: Apache-2.0
// Numbers whose products and sums are exact in every type, for tests of loops that add in any
// order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace mxnet {

template <class T>
std::vector<T> small_integers(int64_t count, std::mt19937_64& random) {
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& x : numbers) x = static_cast<T>(random() % 9) - T{4};
  return numbers;
}

}  // namespace mxnet
