// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of the cells for each instruction set.
#include "op/rnn/cells.h"

#include <limits>

#include "base/simd.h"
#include "op/rnn/gate_math.h"

namespace mxnet::rnn {
namespace {

#define MX_SIMD_FILE "op/rnn/cells.inc"
#include "base/simd_targets.h"

}  // namespace

Clip clip_of(const RnnParams& params) {
  Clip clip;
  clip.on = params.lstm_state_clip_min.has_value() || params.lstm_state_clip_max.has_value();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  clip.low = params.lstm_state_clip_min.value_or(-kInfinity);
  clip.high = params.lstm_state_clip_max.value_or(kInfinity);
  clip.nan = params.lstm_state_clip_nan;
  return clip;
}

template <class T>
CellForward<T> cell_forward(Mode mode) {
  return MX_SIMD_CALL(forward_of<T>)(mode);
}
template <class T>
CellBackward<T> cell_backward(Mode mode) {
  return MX_SIMD_CALL(backward_of<T>)(mode);
}
template <class T>
void add_rows(const T* from, int64_t rows, int64_t stride, T* to, int64_t count) {
  MX_SIMD_CALL(add_rows<T>)(from, rows, stride, to, count);
}

#define MX_INSTANTIATE(T)                          \
  template CellForward<T> cell_forward<T>(Mode);   \
  template CellBackward<T> cell_backward<T>(Mode); \
  template void add_rows(const T*, int64_t, int64_t, T*, int64_t);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
#undef MX_INSTANTIATE

}  // namespace mxnet::rnn
