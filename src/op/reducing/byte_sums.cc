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

// Pairs of bytes in vectors of 16 bytes, which every x86-64 and ARM has.
using Bytes __attribute__((vector_size(16))) = uint8_t;
using Pairs __attribute__((vector_size(16))) = uint16_t;
using Words __attribute__((vector_size(16))) = uint64_t;
constexpr int64_t kBytes = sizeof(Bytes);

Bytes loaded(const uint8_t* from) {
  Bytes bytes;
  std::memcpy(&bytes, from, sizeof(bytes));
  return bytes;
}

struct PairSums {
  Pairs low{}, high{};
  Bytes most;

  void add(Bytes bytes) {
    bytes = bytes < most ? bytes : most;
    const auto pairs = (Pairs)bytes;  // a cast of vectors keeps their bits
    low += pairs & 255;
    high += pairs >> 8;
  }
  // The last `left` bytes of a vector.
  void add_last(Bytes bytes, int64_t left) { add(bytes & loaded(kLastBytes.data() + left)); }
  int64_t sum() const {
    int64_t sum = 0;
    for (int k = 0; k < kBytes / 2; ++k) sum += low[k] + high[k];
    return sum;
  }
  // Where 16 bits hold it: by a product the highest lane of a word is the sum of all.
  int64_t short_sum() const {
    const auto words = (Words)(low + high);
    return static_cast<int64_t>(((words[0] + words[1]) * 0x0001000100010001U) >> 48);
  }
};

}  // namespace

int64_t sum_of_bytes(const uint8_t* x, int64_t n, uint8_t most) {
  int64_t i = 0, sum = 0;
  while (i + kBytes <= n) {
    const int64_t end = std::min(n, i + (kMostRows - 1) * kBytes);
    PairSums sums{.most = Bytes{} + most};
    for (; i + kBytes <= end; i += kBytes) sums.add(loaded(x + i));
    if (end == n && i < n) {  // those that are left, out of the last vector
      sums.add_last(loaded(x + n - kBytes), n - i);
      i = n;
    }
    sum += sums.sum();
  }
  for (; i < n; ++i) sum += std::min(x[i], most);
  return sum;
}

void sums_of_rows_of_bytes(const uint8_t* x, int64_t rows, int64_t n, uint8_t most,
                           int64_t* values) {
  if (n < kBytes || n > kMostRows) {
    for (int64_t r = 0; r < rows; ++r) values[r] = sum_of_bytes(x + r * n, n, most);
    return;
  }
  const int64_t whole = n / kBytes * kBytes, left = n % kBytes;
  const Bytes last = loaded(kLastBytes.data() + left), at_most = Bytes{} + most;
  for (int64_t r = 0; r < rows; ++r, x += n) {
    PairSums sums{.most = at_most};
    for (int64_t i = 0; i < whole; i += kBytes) sums.add(loaded(x + i));
    sums.add(loaded(x + n - kBytes) & last);
    values[r] = sums.short_sum();
  }
}

void add_rows_of_bytes(const uint8_t* x, int64_t rows, int64_t stride, uint8_t most, int64_t* acc,
                       int64_t width) {
  const auto counted = [most](uint8_t byte) { return byte < most ? byte : most; };
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
        to[j] = static_cast<uint16_t>(to[j] + counted(a[j]) + counted(b[j]) + counted(c[j]) +
                                      counted(d[j]));
    }
    for (; r < block; ++r, x += stride) {
      uint16_t* to = sums.data();
      MX_INDEPENDENT_STEPS
      for (int64_t j = 0; j < width; ++j) to[j] = static_cast<uint16_t>(to[j] + counted(x[j]));
    }
    for (int64_t j = 0; j < width; ++j) acc[j] += sums[static_cast<std::size_t>(j)];
    rows -= block;
  }
}

}  // namespace mxnet
