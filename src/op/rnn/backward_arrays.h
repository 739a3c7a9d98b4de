// SPDX-License-Identifier: Apache-2.0
// The arrays of a network's backward pass, as the operator is given them on either device.
#pragma once
#include "op/rnn/layout.h"

namespace mxnet::rnn {

// Gradients that are null are not computed (of the results) or zero (of the outputs).
template <class T, class Lengths>
struct BackwardArrays {
  const T *data, *params, *state, *cell;
  Lengths lengths;  // of the samples, where they are given
  const T *out, *reserve;
  const T *dout, *dstate_out, *dcell_out;
  T *ddata, *dparams, *dstate, *dcell;
  // On the CPU: weights are packed first, else BLAS reads them as they lie; of those that are,
  // whether products over whole sequences are of bfloat16.
  bool packs, narrow;
};

// Inputs: those of the operator, its output and reserve, gradients of its outputs. `arrays`: those
// of the call in T; clear(i) makes result i zero, where nobody asks for it or the sequences are
// `empty`.
template <class T, class Lengths, class Arrays, class Clear>
BackwardArrays<T, Lengths> backward_arrays(const RnnParams& params, Lengths lengths, Arrays& arrays,
                                           bool empty, const Clear& clear) {
  BackwardArrays<T, Lengths> a{};
  a.data = arrays.in(0);
  a.params = arrays.in(1);
  a.state = arrays.in(2);
  if (params.has_cell()) a.cell = arrays.in(3);
  a.lengths = lengths;
  int next = params.length_input() + (params.use_sequence_length ? 1 : 0);
  a.out = arrays.in(next++);
  a.reserve = arrays.in(next++);
  a.dout = arrays.in(next++);
  if (params.state_outputs) {
    a.dstate_out = arrays.in(next++);
    if (params.has_cell()) a.dcell_out = arrays.in(next++);
  }
  T** const results[] = {&a.ddata, &a.dparams, &a.dstate, &a.dcell};
  for (int i = 0; i < params.length_input(); ++i) {
    if ((params.wanted >> i & 1) != 0 && !empty) {
      *results[i] = arrays.out(i);
    } else {
      clear(i);
    }
  }
  return a;
}

}  // namespace mxnet::rnn
