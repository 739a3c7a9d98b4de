// SPDX-License-Identifier: Apache-2.0
// Running sums along lines, in three launches: sums of pieces, running sums of these for each line,
// and the elements of each piece behind what came before it. Sums are made in a fixed order.
#include <cmath>

#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

// What leaves every number as it is, -0 too.
template <class Sum>
constexpr Sum kNothing = static_cast<Sum>(-0.0);

// Lines in pieces of `piece` elements; the last one may be shorter. Neighbouring threads have
// neighbouring lines where these are neighbours in memory.
struct Pieces {
  Lines lines;
  int64_t piece, of_line;
  bool reverse;

  MX_DEVICE int64_t line(int64_t i) const {
    return i / lines.inner / of_line * lines.inner + i % lines.inner;
  }
  MX_DEVICE int64_t begin(int64_t i) const { return i / lines.inner % of_line * piece; }
  MX_DEVICE int64_t end(int64_t i) const {
    const int64_t last = begin(i) + piece;
    return last < lines.length ? last : lines.length;
  }
  // Element k of a line, counted from where summing starts.
  MX_DEVICE int64_t at(int64_t line, int64_t k) const {
    return lines.first(line) + (reverse ? lines.length - 1 - k : k) * lines.inner;
  }
  // Where the sum of the piece that begins at k lies: those of a line one behind the other.
  MX_DEVICE int64_t sum_at(int64_t line, int64_t k) const { return line * of_line + k / piece; }
};

template <class T, class Sum>
struct SumPieces {
  const T* x;
  Sum* sums;
  Pieces pieces;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t line = pieces.line(i), begin = pieces.begin(i), end = pieces.end(i);
    Sum sum = kNothing<Sum>;
    for (int64_t k = begin; k < end; ++k) sum += static_cast<Sum>(widen(x[pieces.at(line, k)]));
    sums[pieces.sum_at(line, begin)] = sum;
  }
};

// Each sum becomes that of all pieces before.
template <class Sum>
struct SumBefore {
  Sum* sums;
  int64_t of_line;
  MX_DEVICE void operator()(int64_t line) const {
    Sum before = kNothing<Sum>;
    for (int64_t p = line * of_line; p < (line + 1) * of_line; ++p) {
      const Sum piece = sums[p];
      sums[p] = before;
      before += piece;
    }
  }
};

template <class T, class Sum>
struct SumElements {
  const T* x;
  const Sum* before;
  T* y;
  Pieces pieces;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t line = pieces.line(i), begin = pieces.begin(i), end = pieces.end(i);
    Sum sum = before == nullptr ? kNothing<Sum> : before[pieces.sum_at(line, begin)];
    for (int64_t k = begin; k < end; ++k) {
      const int64_t at = pieces.at(line, k);
      sum += static_cast<Sum>(widen(x[at]));
      y[at] = narrow<T>(sum);
    }
  }
};

template <class T, class Sum>
void run(NativeStream* stream, const Tensor& in, const Pieces& pieces, const Tensor& out,
         KernelContext& context) {
  const int64_t lines = in.size() / pieces.lines.length, count = lines * pieces.of_line;
  Sum* sums = nullptr;
  if (pieces.of_line > 1) {
    sums = context.workspace_of<Sum>(count);
    for_each(stream, "cumsum", count, SumPieces<T, Sum>{in.as<T>(), sums, pieces});
    for_each(stream, "cumsum", lines, SumBefore<Sum>{sums, pieces.of_line});
  }
  for_each(stream, "cumsum", count, SumElements<T, Sum>{in.as<T>(), sums, out.as<T>(), pieces});
}

}  // namespace

void running_sum(NativeStream* stream, const Tensor& in, int64_t length, int64_t inner,
                 bool reverse, bool wide, const Tensor& out, KernelContext& context) {
  constexpr int64_t kShort = 64;  // elements of a line that one thread sums
  if (in.size() == 0) return;
  // As many pieces as elements of one: no launch has long chains of sums.
  const int64_t piece =
      length <= kShort ? length
                       : static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(length))));
  const Pieces pieces{{length, inner}, piece, (length + piece - 1) / piece, reverse};
  for_dtype<kNumeric.bits_>(in.dtype, "cumsum", [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>)
      run<T, uint64_t>(stream, in, pieces, out, context);  // sums that do not fit wrap
    else if constexpr (std::is_same_v<T, float>)
      wide ? run<T, double>(stream, in, pieces, out, context)
           : run<T, float>(stream, in, pieces, out, context);
    else
      run<T, Compute<T>>(stream, in, pieces, out, context);
  });
}

}  // namespace cuda
}  // namespace mxnet
