// SPDX-License-Identifier: Apache-2.0
// The hot loop of csr_pairs.cc, by itself: it alone is compiled for speed.
#pragma once
#include <cstddef>
#include <cstdint>

#include "op/sparse/csr_pairs.h"

namespace mxnet {

// A row of one operand, by ascending columns.
struct Line {
  const int64_t* columns;
  const char* values;
  int64_t count;
};

// Where merged elements go.
struct Merged {
  int64_t* columns;
  char *left, *right;
};

// The number of elements, -1 where columns do not ascend from 0 on to below `limit`.
using MergeLines = int64_t (*)(const Line& left, const Line& right, const Merged& to,
                               int64_t limit);
MergeLines merge_of(std::size_t item, Align align);

}  // namespace mxnet
