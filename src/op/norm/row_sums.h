// SPDX-License-Identifier: Apache-2.0
// Sums over long rows: short sums of loops, added up in double unless MXNET_SAFE_ACCUMULATION is
// off. How terms are grouped follows from the length alone.
#pragma once
#include <algorithm>
#include <cstdint>

namespace mxnet {

// Elements in a short sum; two rows of them fit the first-level cache.
inline constexpr int64_t kSumBlock = 2048;

// The sum of loop(first, n) over the blocks of [0, count).
template <class C, class Loop>
double sum_blocks(int64_t count, bool wide, const Loop& loop) {
  if (count <= kSumBlock) return count > 0 ? loop(int64_t{0}, count) : 0.0;
  double sum = 0;
  C narrow = 0;
  for (int64_t first = 0; first < count; first += kSumBlock) {
    const C block = loop(first, std::min(kSumBlock, count - first));
    wide ? void(sum += block) : void(narrow += block);
  }
  return wide ? sum : narrow;
}

// Mean and sum of squared deviations of values that come in blocks (Chan, Golub and LeVeque 1979).
struct Moments {
  double count = 0, mean = 0, square = 0;

  void merge(double n, double block_mean, double block_square) {
    if (count == 0) {  // without the divisions, for short rows
      count = n;
      mean += block_mean;
      square += block_square;
      return;
    }
    const double total = count + n, delta = block_mean - mean;
    mean += delta * (n / total);
    square += block_square + delta * delta * (count * n / total);
    count = total;
  }
  double variance() const { return count > 0 ? std::max(square / count, 0.0) : 0.0; }
};

// Adds the values of one block: two passes over what is then in cache. The first finds a mean as
// good as C allows; what it lacks comes out of the second.
template <class C, class Loops>
void add_block(const Loops& loops, const C* x, int64_t n, Moments* moments) {
  const double count = static_cast<double>(n);
  const C mean = static_cast<C>(loops.sum(x, n) / count);
  C sums[2];
  loops.deviations(x, n, mean, sums);
  const double rest = sums[0] / count;
  moments->merge(count, mean + rest, sums[1] - rest * sums[0]);
}
template <class C, class Loops>
Moments moments_of(const Loops& loops, const C* x, int64_t n) {
  Moments moments;
  for (int64_t first = 0; first < n; first += kSumBlock)
    add_block(loops, x + first, std::min(kSumBlock, n - first), &moments);
  return moments;
}

}  // namespace mxnet
