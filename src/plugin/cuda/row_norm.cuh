// SPDX-License-Identifier: Apache-2.0
// What LayerNorm, GroupNorm and InstanceNorm (op/norm/row_norm.h) and their gradients share: what a
// row's elements have in common, and which parameters they meet.
#pragma once
#include "op/norm/row_norm.h"
#include "plugin/cuda/held_rows.cuh"
#include "plugin/cuda/lines.cuh"

namespace mxnet {
namespace cuda {
namespace row_norms {

// Mean and inverse of the deviation; sums of a row's gradient.
template <class C>
struct Pair {
  C a, b;
};
template <class C>
MX_DEVICE Pair<C> added(Pair<C> a, Pair<C> b) {
  return {a.a + b.a, a.b + b.b};
}

// Count, mean and sum of squared deviations.
template <class C>
struct Moments {
  C count, mean, squares;

  // Mean and inverse of the deviation.
  MX_DEVICE Pair<C> pair(C eps) const { return {mean, C(1) / root(eps)}; }
  MX_DEVICE C root(C eps) const { return row_words::sqrt(squares / count + eps); }
};
template <class C>
MX_DEVICE Moments<C> merged(Moments<C> a, Moments<C> b) {
  if (a.count == C(0)) return b;
  if (b.count == C(0)) return a;
  const C count = a.count + b.count, delta = b.mean - a.mean, share = b.count / count;
  return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share};
}

// Of rows of any length and layout.
template <class T>
struct FindMoments {
  using C = Compute<T>;
  const T* x;
  Pair<C>* found;
  T *mean, *std;  // null: not wanted
  Lines rows;
  C eps;
  MX_DEVICE Moments<C> part(int64_t row, int lane, int lanes) const {
    constexpr int kAtOnce = 4;  // loads on their way together, and elements for one division
    Moments<C> m{C(0), C(0), C(0)};
    const T* const from = x + rows.first(row);
    int64_t k = lane;
    for (; k + (kAtOnce - 1) * lanes < rows.length; k += kAtOnce * lanes) {
      C values[kAtOnce], sum(0), squares(0);
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) values[e] = widen(from[(k + e * lanes) * rows.inner]);
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) sum += values[e];
      const C middle = sum * (C(1) / kAtOnce);
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) squares += (values[e] - middle) * (values[e] - middle);
      m = merged(m, {C(kAtOnce), middle, squares});
    }
    for (; k < rows.length; k += lanes)
      m = merged(m, {C(1), static_cast<C>(widen(from[k * rows.inner])), C(0)});
    return m;
  }
  MX_DEVICE Moments<C> merge(Moments<C> a, Moments<C> b) const { return merged(a, b); }
  MX_DEVICE void finish(int64_t row, Moments<C> m) const {
    found[row] = m.pair(eps);
    if (mean == nullptr) return;
    mean[row] = narrow<T>(m.mean);
    std[row] = narrow<T>(m.root(eps));
  }
};

// Which of the parameters an element meets: one for each place of a row, or one for each row of a
// group.
struct Parameter {
  Lines rows;
  Divider groups;  // 0: a parameter for each place

  Parameter(const Lines& rows_, int64_t groups_) : rows(rows_), groups(groups_) {}
  MX_DEVICE bool of_places() const { return groups.by() == 0; }
  MX_DEVICE int64_t of_row(int64_t row) const { return row - groups.quotient(row) * groups.by(); }
  MX_DEVICE int64_t operator()(int64_t i) const {
    return of_places() ? rows.place_of(i) : of_row(rows.line_of(i));
  }
};

}  // namespace row_norms
}  // namespace cuda
}  // namespace mxnet
