// SPDX-License-Identifier: Apache-2.0
// What happens in a recurrent cell after the matrix products, for a run of units of one sample, and
// the gradients of it.
#pragma once
#include <cstdint>

#include "op/rnn/layout.h"

namespace mxnet::rnn {

// Bounds of the LSTM's cell state.
struct Clip {
  bool on = false, nan = false;  // nan: NaN becomes the lower bound
  double low = 0, high = 0;
};
Clip clip_of(const RnnParams& params);

// Pointers to the first unit of the run; gate g is g * stride further in gates and biases.
template <class T>
struct Cell {
  T* gates;             // in: products with input (and state); out: activated
  const T* bias;        // of input and state together; the GRU's candidate: of the input
  const T* state_bias;  // of the GRU's candidate
  T* candidate;         // GRU: product with the state; out: with its bias
  const T *h_before, *c_before;
  T *h, *c;
  int64_t stride, count;
  Clip clip;
  // An LSTM's: the same units of so many samples, whose gates, and whose states, are so far apart.
  int64_t samples = 1, gates_apart = 0, states_apart = 0;
};
// Order of gates: LSTM input, forget, candidate, output; GRU reset, update, candidate.
template <class T>
using CellForward = void (*)(const Cell<T>&);
template <class T>
CellForward<T> cell_forward(Mode mode);

template <class T>
struct CellGrad {
  const T* gates;  // activated
  const T* candidate;
  const T *h_before, *c_before, *c, *h;
  T* dh;          // in: gradient of h; out: what goes to h_before past the products
  T* dc;          // in: gradient of c; out: of c_before
  T* dgates;      // of the products with the input
  T* dcandidate;  // GRU: of the candidate's product with the state
  int64_t stride, count;
  Clip clip;
};
template <class T>
using CellBackward = void (*)(const CellGrad<T>&);
template <class T>
CellBackward<T> cell_backward(Mode mode);

// to[j] += the sum over `rows` rows of from[j], `stride` apart.
template <class T>
void add_rows(const T* from, int64_t rows, int64_t stride, T* to, int64_t count);

}  // namespace mxnet::rnn
