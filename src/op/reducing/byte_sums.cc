// SPDX-License-Identifier: Apache-2.0
// Bytes are added in lanes of 16 bits, which are emptied before they could be full.
#include "op/reducing/byte_sums.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/simd.h"

namespace mxnet {
namespace {

// Bytes whose sum 16 bits hold.
constexpr int64_t kMostRows = 65535 / 255;
// Read from byte n on, those of the last n of a vector.
constexpr std::array<uint8_t, 32> kLastBytes = {
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

}  // namespace

int64_t sum_of_bytes(const uint8_t* x, int64_t n) {
  // Pairs of bytes in vectors of 16 bytes, which every x86-64 and ARM has.
  using Pairs __attribute__((vector_size(16))) = uint16_t;
  constexpr int64_t kBytes = sizeof(Pairs);
  const auto load = [](const uint8_t* from) {
    Pairs pairs;
    std::memcpy(&pairs, from, sizeof(pairs));
    return pairs;
  };
  int64_t i = 0, sum = 0;
  while (i + kBytes <= n) {
    const int64_t end = std::min(n, i + (kMostRows - 1) * kBytes);
    Pairs low{}, high{};
    for (; i + kBytes <= end; i += kBytes) {
      const Pairs pairs = load(x + i);
      low += pairs & 255;
      high += pairs >> 8;
    }
    if (end == n && i < n) {  // those that are left, out of the last vector
      const Pairs pairs = load(x + n - kBytes) & load(kLastBytes.data() + (n - i));
      low += pairs & 255;
      high += pairs >> 8;
      i = n;
    }
    for (int k = 0; k < kBytes / 2; ++k) sum += low[k] + high[k];
  }
  for (; i < n; ++i) sum += x[i];
  return sum;
}

void add_rows_of_bytes(const uint8_t* x, int64_t rows, int64_t stride, int64_t* acc,
                       int64_t width) {
  while (rows > 0) {
    const int64_t block = std::min(rows, kMostRows);
    std::array<uint16_t, kMostByteColumns> sums;
    std::fill_n(sums.data(), width, uint16_t{0});
    int64_t r = 0;
    for (; r + 4 <= block; r += 4, x += 4 * stride) {
      const uint8_t *a = x, *b = a + stride, *c = b + stride, *d = c + stride;
      uint16_t* to = sums.data();
      MX_INDEPENDENT_STEPS
      for (int64_t j = 0; j < width; ++j)
        to[j] = static_cast<uint16_t>(to[j] + a[j] + b[j] + c[j] + d[j]);
    }
    for (; r < block; ++r, x += stride) {
      uint16_t* to = sums.data();
      MX_INDEPENDENT_STEPS
      for (int64_t j = 0; j < width; ++j) to[j] = static_cast<uint16_t>(to[j] + x[j]);
    }
    for (int64_t j = 0; j < width; ++j) acc[j] += sums[static_cast<std::size_t>(j)];
    rows -= block;
  }
}

}  // namespace mxnet
