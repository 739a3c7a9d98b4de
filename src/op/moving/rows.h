// SPDX-License-Identifier: Apache-2.0
// Picking rows by position and adding rows back: what take, Embedding, gather_nd and their
// gradients have in common.
#pragma once
#include "op/moving/positions.h"

namespace mxnet {

// What gather_rows() does on the host, for whoever finds the positions: row at[i] of each block of
// `extent` rows of `width` bytes becomes row start + i of one of `count` rows. Thread-safe; borrows
// both arrays.
class RowGatherer {
 public:
  using Block = void (*)(const char* in, char* out, const int64_t* positions, int64_t n,
                         int64_t width);
  RowGatherer(const void* in, int64_t outer, int64_t extent, int64_t width, void* out,
              int64_t count);
  // Elementary operations of a row, which is read and written, and whose place is no neighbour's.
  double cost() const;
  // Of blocks [first_outer, last_outer). All n positions are in range.
  void gather(int64_t first_outer, int64_t last_outer, int64_t start, const int64_t* at,
              int64_t n) const;

 private:
  const char* in_;
  char* out_;
  int64_t extent_, width_, count_;
  Block gather_;
};

// The others run on the device of the call.

// out[o][j] = in[o][positions[j]] for rows of `width` bytes; `in` has `extent` rows for each of
// `outer`.
void gather_rows(const void* in, int64_t outer, int64_t extent, int64_t width,
                 const Positions& positions, void* out, KernelContext& context);

// Row positions[i] of `out` becomes row i of `in`, or zeros where `in` is null; rows have `width`
// bytes. Where several name one place the last wins.
void put_rows(const void* in, int64_t width, const Positions& positions, void* out,
              KernelContext& context);

// out[o][p] = the sum of in[o][j] over all j with positions[j] = p, for rows of `width` elements;
// 16-bit types add up in float. In the order of j for any number of threads. With `add`, on the CPU
// only, `out` holds what the sums begin with.
void sum_rows(const Tensor& in, int64_t outer, int64_t extent, int64_t width,
              const Positions& positions, const Tensor& out, KernelContext& context,
              bool add = false);

}  // namespace mxnet
