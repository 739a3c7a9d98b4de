// SPDX-License-Identifier: Apache-2.0
// One direction of an LSTM layer outside of training, its products by the methods of strassen.h:
// what it needs, whether it may, and its samples through all steps.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "op/rnn/cells.h"
#include "op/rnn/magnitudes.h"
#include "op/rnn/network.h"
#include "op/rnn/strassen.h"
#include "op/rnn/strassen_weights.h"

namespace mxnet::rnn {

// Made and prepared by the thread of the kernel; then threads run slots, each of its own.
class StrassenDirection {
 public:
  // `y` is where this direction's part of the outputs begins.
  StrassenDirection(const RnnParams& params, const Extent& extent,
                    const ForwardArrays<float>& arrays, int64_t layer, int direction,
                    const float* x, float* y);

  bool sizes_allow() const;
  // What numbers allow: sums of them neither hide small ones nor carry what is not finite to other
  // samples.
  bool numbers_allow(const Magnitudes& most) const { return may_be_mixed(most, inputs_, hidden_); }

  // Blocks of samples take turns in slots, of which each has gates and scratch of its own; at most
  // one thread is in a slot.
  struct Shares {
    int64_t samples, slots;
    bool operator==(const Shares&) const = default;
  };
  const Shares& shares() const { return shares_; }
  int64_t layer() const { return layer_; }
  double cost_of_sample() const;

  // The sums of the weights that outlive the call, if it keeps any.
  bool finds_sums() { return weights_.find_kept(); }

  // Numbers of scratch: of each slot, and of this direction.
  int64_t gates_size() const;
  int64_t scratch_size() const;
  int64_t own_size() const { return 2 * batch_ * hidden_ + weights_.own_size(); }
  // Begins with own_size() numbers at `own`; makes the sums of the weights that were not found.
  void prepare(float* own);

  // Those samples that have their turn in a slot, with the slot's gates and scratch.
  void run_slot(int64_t slot, float* gates, float* scratch);

 private:
  // Those of a chunk of steps, or of a step.
  struct Tiles {
    void add(const strassen::Tile& tile) { at[count++] = tile; }
    std::span<const strassen::Tile> all() const { return {at.data(), count}; }
    std::array<strassen::Tile, strassen::kMostRows / strassen::kTile> at;
    std::size_t count = 0;
  };

  Shares made_shares() const;
  bool shares_evenly() const;
  bool joins_cells() const;
  int64_t time_of(int64_t step) const { return direction_ == 1 ? steps_ - 1 - step : step; }
  bool has_ended(int64_t step, int64_t sample) const {
    return lengths_ != nullptr && time_of(step) >= lengths_[sample];
  }

  void run_samples(int64_t first, int64_t last, float* gates, float* scratch);
  void multiply_input(int64_t step, int64_t count, int64_t first, int64_t samples, float* gates,
                      Tiles& tiles, float* scratch) const;
  void run_step(int64_t step, int64_t first, int64_t samples, float* gates, Tiles& tiles,
                float* scratch);
  void run_block(int64_t step, int64_t first, int64_t samples, int64_t unit, bool is_zero,
                 float* block, strassen::StateProducts& products);
  void multiply_state(const float* before, int64_t samples, float* gates) const;
  void run_cells(int64_t step, int64_t first, int64_t samples, int64_t unit, float* block);
  void finish_sample(int64_t step, int64_t sample, const float* gates, int64_t apart);

  const int64_t steps_, batch_, inputs_, hidden_, columns_, y_width_;
  const int64_t layer_;
  const int direction_;
  const int64_t* const lengths_;
  const CellForward<float> cell_fn_;
  const Clip clip_;
  const float *x_, *state_, *cell_;
  float *y_, *gate_values_ = nullptr, *cells_ = nullptr;  // the latter two where they are kept
  float *state_out_, *cell_out_;
  StrassenWeights weights_;
  float *states_ = nullptr, *cell_states_ = nullptr;  // before a step, then after it
  const Shares shares_;
};

}  // namespace mxnet::rnn
