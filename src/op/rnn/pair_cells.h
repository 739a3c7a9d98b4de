// SPDX-License-Identifier: Apache-2.0
// LSTM cells straight from the 26 products of pair_sums.h, for calls that keep no gates: sums of
// products, gates and cells of two samples at a time, which never meet memory between; and the same
// cells where the products are in the gates.
#pragma once
#include "op/rnn/pair_sums.h"

namespace mxnet::rnn::pair_sums {

// kWidth units of some pairs of samples. Rows of gates are kBlocks * kWidth numbers.
struct PairCells {
  const float* products;          // as add_products() reads them; null: gates have them already
  const float *first, *second;    // gates: the products with the input
  const float* bias;              // of input and state together
  float *first_c, *second_c;      // cell states, before and after
  float *first_h, *second_h;      // hidden states after
  float *first_y, *second_y;      // the same for whoever reads the outputs
  int64_t states_apart, y_apart;  // from row to row
};

// Asks for the states and outputs, for whoever makes the products meanwhile: between two steps the
// weights drive them out of a core's caches.
void fetch_states(const PairCells& cells, int64_t rows);

void run_cells(const PairCells& cells, int64_t rows);

}  // namespace mxnet::rnn::pair_sums
