// SPDX-License-Identifier: Apache-2.0
// Picking rows by position and adding rows back: what take, Embedding, gather_nd and their
// gradients have in common.
#pragma once
#include "op/moving/positions.h"

namespace mxnet {

// Both run on the device of the call.

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
