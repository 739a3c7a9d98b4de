// SPDX-License-Identifier: Apache-2.0
// Products of rows with the weights of an LSTM's four gates in fewer multiplications. Those with
// the input are Strassen's, twice: seven products of halves instead of eight, of halves of halves
// (49 instead of 64). Those with the state, of which there are few rows at a time, are Hopcroft and
// Kerr's: 26 products of half of the rows and a quarter of the features instead of 32. Sums of the
// weights are made before; sums of rows and of products stay in the caches, and are lost in the
// time of the products. Rows and features are mixed in the sums, so that a number's error is one of
// the largest numbers (small_enough()), and what is not finite would reach others. All of it runs
// on the calling thread.
#pragma once
#include <cstdint>
#include <span>

#include "op/products/packed_gemm.h"
#include "op/rnn/pair_sums.h"

namespace mxnet::rnn::strassen {

// Rows of which sums are made: rows r and r + kTile of every 2 * kTile are one pair, however many
// threads share them.
inline constexpr int64_t kTile = 8;

// Whether a layer's sizes divide as they must, and are large enough to gain.
bool divides(int64_t batch, int64_t input_size, int64_t hidden);
// Columns, alike units of a gate, that are multiplied together; they divide `hidden`.
int64_t columns();
// Rows of the input that are best multiplied at once: of 64 all sums stay in a second-level cache
// of 1 MiB; where it is half as large, neither those of the rows nor those of the weights would,
// and of more rows the latter are read less often.
int64_t input_rows();
inline constexpr int64_t kMostRows = 256;  // of an input that are multiplied at once
// Whether products with the state, of few rows, gain too; what follows about the state is for where
// they do. With 16 registers they do not: half of 16 rows are two tiles of four, a tenth slower
// than higher ones, and the sums, which come from the third-level cache at each step, are 13
// eighths of the weights.
bool gains_on_state();

// Numbers that the sums of the weights of some units take; of all units in turn they are what the
// products below want. `panels` holds for each gate the packed weights (op/products/packed_gemm.h)
// of columns() units, one after the other.
int64_t input_sums(int64_t k, int64_t units);
int64_t state_sums(int64_t k, int64_t units);
// Other threads see them after finish_stream_copies() (base/stream_copy.h).
void sum_input_weights(const float* panels, int64_t k, float* to);
void sum_state_weights(const float* panels, int64_t k, float* to);

// Where kTile rows come from and where their products go. Rows of results are of 4 * columns()
// numbers, gate after gate, for the first units; those of the next are `apart` numbers further.
struct Tile {
  const float* from;  // rows of k, as many numbers apart
  float* to;
};

// Numbers that the products of so many rows need meanwhile, at 64 bytes.
int64_t input_scratch(int64_t rows, int64_t k);
int64_t state_scratch(int64_t rows, int64_t k);
// The results become the products. tiles: [two][two][n], of which the first two are the rows of one
// sum, and so are the second. k is a multiple of 64.
void multiply_input(std::span<const Tile> tiles, int64_t k, const float* sums, int64_t hidden,
                    int64_t apart, float* scratch);
// Products of the rows of two tiles each, the rows of one sum, with the state's weights, block by
// block of columns() units. k is a multiple of 64.
class StateProducts {
 public:
  // `sums` as made above, of k numbers by `hidden` units; `scratch` of state_scratch().
  StateProducts(int64_t rows, int64_t k, const float* sums, int64_t hidden, float* scratch);
  // tiles: [two][n], n * kTile being half of the rows.
  void sum_rows(std::span<const Tile> tiles);
  // The products of rows of zeros.
  void clear();
  // Those of the block that begins at `unit`; `later` is what is read with them.
  void multiply(int64_t unit, const packed_gemm::Later& later = {});
  // Of the pairs of tile t, as pair_sums.h and pair_cells.h read them.
  const float* of(int64_t t) const {
    return products_ + t * kTile * pair_sums::kProducts * pair_sums::kWidth;
  }

 private:
  const int64_t pairs_, quarter_, hidden_;
  const float* const sums_;
  float* const left_;
  const int64_t factor_;  // from one of the left factors to the next
  float* const products_;
};

}  // namespace mxnet::rnn::strassen
