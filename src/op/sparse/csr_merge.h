// SPDX-License-Identifier: Apache-2.0
// The hot loops of csr_pairs.cc, by themselves: they alone are compiled for speed.
#pragma once
#include <cstddef>
#include <cstdint>

#include "op/sparse/csr_pairs.h"

namespace mxnet {

// Rows of one operand: row r has elements [ends[r], ends[r + 1]).
struct Lines {
  const int64_t *ends, *columns;
  const char* values;
};

// Whether columns of each row ascend strictly from 0 on to below `limit`.
bool ascend(const Lines& lines, int64_t rows, int64_t limit);

// Where merged elements go: there is room for `room` columns, at least as many as there can be, and
// for the values for as many as there can be and kMergeSlack bytes more. All of it may be written.
struct Merged {
  int64_t* columns;
  int64_t room;
  char *left, *right;
};
inline constexpr std::size_t kMergeSlack = 64;

// The number of elements. ends[r + 1] becomes where row r ends if the first one begins at `first`.
// REQUIRES: ascend() is true of both.
using MergeLines = int64_t (*)(const Lines& left, const Lines& right, int64_t rows,
                               const Merged& to, int64_t* ends, int64_t first);
// `limit`: above all columns.
MergeLines merge_of(std::size_t item, Align align, int64_t limit);

}  // namespace mxnet
