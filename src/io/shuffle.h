// SPDX-License-Identifier: Apache-2.0
// Random orders that are the same everywhere: the generator and the way numbers are taken from it
// are written down here, not left to the standard library. They give the reference's orders.
#pragma once
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace mxnet::io {

// Uniform in [0, n): the highest multiple of n below 2^32 is divided, what is above drawn again.
inline uint32_t draw_below(std::mt19937& random, uint32_t n) {
  const uint32_t part = std::mt19937::max() / n;
  uint32_t word;
  do {
    word = static_cast<uint32_t>(random());
  } while (word >= part * n);
  return word / part;
}

// Every order is as likely as any other; one number an item, from the second item on.
template <class T>
void shuffle(std::vector<T>& items, std::mt19937& random) {
  for (uint32_t i = 1; i < items.size(); ++i) std::swap(items[i], items[draw_below(random, i + 1)]);
}

}  // namespace mxnet::io
