// SPDX-License-Identifier: Apache-2.0
// Rows of a broadcast that are too short to be computed one by one: a call for each would take
// longer than its elements. The arrays are laid out in a block in the caches, row after row, and
// one call of the loop of two arrays computes the block.
#pragma once
#include <cstdint>

#include "op/loops/broadcast_plan.h"

namespace mxnet {

// The loop of two arrays without its types, so that what lays rows out is compiled once for all.
struct ArraysLoop {
  const void* loop;
  void (*run)(const void* loop, const void* a, const void* b, void* y, int64_t n);
  int64_t element, result;  // bytes
};

struct ShortRows {
  const BroadcastPlan& plan;
  ArraysLoop arrays;
  const char *a, *b;
  char* y;
  bool a_full, b_full;  // whether they have as many elements as the result

  // n results from row `row` on, of elements that lie together.
  void run(int64_t row, const void* from_a, const void* from_b, int64_t n) const {
    arrays.run(arrays.loop, from_a, from_b, y + row * plan.row_length() * arrays.result, n);
  }
};

// Whether, of many neighbouring rows, one array has all, one after another, and the other one the
// same for all: then only this is laid out, once for them.
bool repeats_rows(const BroadcastPlan& plan);

// Computes all rows, which threads share; `cost` of one in elementary operations.
void share_short_rows(const ShortRows& call, double cost);

}  // namespace mxnet
