// SPDX-License-Identifier: Apache-2.0
// Sums over long rows: short sums of loops, added up in double unless MXNET_SAFE_ACCUMULATION is
// off. How terms are grouped follows from the length alone.
#pragma once
#include <algorithm>
#include <array>
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

// Adds the values of one block to the moments of each of `rows` rows, whose blocks of n follow each
// other: two passes over what is then in cache. The first finds a mean as good as C allows; what it
// lacks comes out of the second. At most kRowsTogether rows, so that none waits for another's sums.
inline constexpr int64_t kRowsTogether = 16;
template <class C, class Loops>
[[gnu::noinline]] void add_blocks(const Loops& loops, const C* x, int64_t n, int64_t rows,
                                  Moments* moments) {
  const double count = static_cast<double>(n);
  std::array<C, kRowsTogether> means;
  std::array<C, 2 * kRowsTogether> sums;
  loops.sums(x, n, rows, means.data());
  for (int64_t r = 0; r < rows; ++r)
    means[static_cast<std::size_t>(r)] = static_cast<C>(means[static_cast<std::size_t>(r)] / count);
  loops.deviations(x, n, rows, means.data(), sums.data());
  for (int64_t r = 0; r < rows; ++r) {
    const C* const of_row = sums.data() + 2 * r;
    const double rest = of_row[0] / count;
    moments[r].merge(count, means[static_cast<std::size_t>(r)] + rest,
                     of_row[1] - rest * of_row[0]);
  }
}
template <class C, class Loops>
void add_block(const Loops& loops, const C* x, int64_t n, Moments* moments) {
  add_blocks(loops, x, n, 1, moments);
}
template <class C, class Loops>
Moments moments_of(const Loops& loops, const C* x, int64_t n) {
  Moments moments;
  for (int64_t first = 0; first < n; first += kSumBlock)
    add_block(loops, x + first, std::min(kSumBlock, n - first), &moments);
  return moments;
}

}  // namespace mxnet
