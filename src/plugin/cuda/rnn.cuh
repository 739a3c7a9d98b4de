// SPDX-License-Identifier: Apache-2.0
// What both directions of a recurrent network share on a GPU: its cells, its products, and when
// samples end.
#pragma once
#include "op/kernel.h"
#include "op/reducing/evaluate.h"
#include "op/rnn/backward_arrays.h"
#include "op/rows/binary_loops.h"
#include "plugin/cuda/dense_product.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace recurrent {

using row_words::sigmoid;
using row_words::tanh;
#define MX_UNIT MX_DEVICE
#include "op/rnn/cell_units.inc"
#undef MX_UNIT

using rnn::Mode;
using rnn::ParamLayout;
using rnn::ReserveLayout;
using rnn::RnnParams;

// Sizes of one direction of one layer, for kernels.
template <class T>
struct Sizes {
  Mode mode;
  int64_t steps, batch, hidden, out;
  int64_t width;  // of the rows of all directions
  int gates;
  bool reverse, projected, clips;
  Bounds<T> bounds;

  Sizes(const RnnParams& params, int64_t steps, int64_t batch, int direction)
      : mode(params.mode),
        steps(steps),
        batch(batch),
        hidden(params.hidden()),
        out(params.out()),
        width(params.out() * params.directions()),
        gates(params.gates()),
        reverse(direction == 1),
        projected(params.projection_size.has_value()),
        clips(params.lstm_state_clip_min || params.lstm_state_clip_max),
        bounds{static_cast<T>(params.lstm_state_clip_min.value_or(-HUGE_VAL)),
               static_cast<T>(params.lstm_state_clip_max.value_or(HUGE_VAL)),
               params.lstm_state_clip_nan} {}
  int64_t time_of(int64_t step) const { return reverse ? steps - 1 - step : step; }
  MX_DEVICE int64_t row() const { return gates * hidden; }
  int64_t places() const { return steps * batch; }
};

struct Extent {
  int64_t steps, batch, input;
};

// Steps of each sample, where there are such: afterwards outputs are zero and the state stays.
struct Lengths {
  Integers lengths{nullptr, DType::kUnknown};
  MX_DEVICE bool ended(int64_t time, int64_t row) const {
    return lengths.data != nullptr && time >= lengths(row);
  }
};

// All layers, step by step. States that are null are not asked for.
template <class T>
struct ForwardArrays {
  const T *data, *params, *state, *cell;
  Lengths lengths;
  T *out, *state_out, *cell_out;
  T* reserve;
};
template <class T>
using BackwardArrays = rnn::BackwardArrays<T, Lengths>;
// T: float or double.
template <class T>
void run_forward(const RnnParams& params, const Extent& extent, const ForwardArrays<T>& arrays,
                 NativeStream* stream, KernelContext& context);
template <class T>
void run_backward(const RnnParams& params, const Extent& extent, const BackwardArrays<T>& arrays,
                  NativeStream* stream, KernelContext& context);

// c (m x n) = op(a) op(b), all without gaps.
template <class T>
void multiply(NativeStream* stream, KernelContext& context, bool transpose_a, bool transpose_b,
              int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
  gemm(stream, dense_product(dtype_of<T>, transpose_a, transpose_b, m, n, k, a, b, c), context);
}

template <class T>
void copy(NativeStream* stream, const T* from, T* to, int64_t count) {
  const Shape shape{count};
  convert(stream, {const_cast<T*>(from), &shape, dtype_of<T>}, {to, &shape, dtype_of<T>});
}
template <class T>
void clear(NativeStream* stream, T* to, int64_t count) {
  const Shape shape{count};
  fill(stream, {to, &shape, dtype_of<T>}, 0);
}

}  // namespace recurrent
}  // namespace cuda
}  // namespace mxnet
