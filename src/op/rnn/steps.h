// SPDX-License-Identifier: Apache-2.0
// How the steps of one direction of one layer are shared among threads: rows of the batch are
// independent for the whole sequence, columns (units) meet after each step.
#pragma once
#include <algorithm>
#include <cstdint>

#include "op/parallel.h"

namespace mxnet::rnn {

// One multiplication and addition of a product, in units of the cost model: sixteen to one.
inline constexpr double kFlop = 1.0 / 16;

struct StepShape {
  int64_t steps, batch, units;
  int64_t work;   // multiplications and additions of one unit of one sample in one step
  int64_t panel;  // units that stay together
  bool rows_only;
};

// Rows read all weights in each thread, columns only their own; columns pay a meeting a step.
inline bool by_rows(const StepShape& shape) {
  constexpr int64_t kRows = 8;                 // below, tiles of the product are not full
  constexpr int64_t kCachedWeights = 1 << 17;  // elements that each thread's cache holds
  const double cost = kFlop * static_cast<double>(shape.work * shape.units);
  const int64_t threads = threads_for(shape.batch, cost * static_cast<double>(shape.steps));
  return shape.rows_only || shape.units < threads * shape.panel ||
         (shape.batch >= threads * kRows && shape.work * shape.units <= kCachedWeights);
}

// fn(step, first row, last row, first unit, last unit) for steps 0, 1, ...; each is done everywhere
// before a later one needs it.
template <class F>
void each_step(const StepShape& shape, int64_t first, int64_t last, const F& fn) {
  const double cost = kFlop * static_cast<double>(shape.work);
  if (by_rows(shape)) {
    const double row_cost = cost * static_cast<double>(shape.units * (last - first));
    parallel_for(
        shape.batch, row_cost,
        [&](int64_t begin, int64_t end) {
          for (int64_t s = first; s < last; ++s) fn(s, begin, end, 0, shape.units);
        },
        1);
    return;
  }
  for (int64_t s = first; s < last; ++s) {
    parallel_for(
        shape.units, cost * static_cast<double>(shape.batch),
        [&](int64_t begin, int64_t end) { fn(s, 0, shape.batch, begin, end); }, shape.panel);
  }
}

}  // namespace mxnet::rnn
