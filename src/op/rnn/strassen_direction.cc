// SPDX-License-Identifier: Apache-2.0
// A thread multiplies the input of a few steps, and then step by step the state. The gates of these
// steps lie in the order in which products come, and go to the reserve, which nobody reads soon,
// only when they are done.
#include "op/rnn/strassen_direction.h"

#include <algorithm>
#include <utility>

#include "base/stream_copy.h"
#include "op/products/packed_gemm.h"
#include "op/rnn/pair_cells.h"
#include "op/rnn/steps.h"
#include "op/run/parallel.h"

namespace mxnet::rnn {
namespace {

using strassen::kTile;

constexpr int64_t kGates = 4;
constexpr int64_t kGroup = 2 * kTile;  // samples that belong together
// Rows of a whole input from which on the multiplications saved are more than making the sums of
// the weights takes.
constexpr int64_t kLeastRows = 512;

// Steps that a thread with so many samples takes at once: an even number.
int64_t chunk_of(int64_t samples) {
  return std::max<int64_t>(1, strassen::input_rows() / 2 / samples) * 2;
}

}  // namespace

StrassenDirection::StrassenDirection(const RnnParams& params, const Extent& extent,
                                     const ForwardArrays<float>& arrays, int64_t layer,
                                     int direction, const float* x, float* y)
    : steps_(extent.steps),
      batch_(extent.batch),
      inputs_(ParamLayout(params, extent.input_size).input_size(layer)),
      hidden_(params.hidden()),
      columns_(strassen::columns()),
      y_width_(params.out() * params.directions()),
      layer_(layer),
      direction_(direction),
      lengths_(arrays.lengths),
      cell_fn_(cell_forward<float>(params.mode)),
      clip_(clip_of(params)),
      x_(x),
      y_(y),
      weights_(params, extent.input_size, arrays, layer, direction),
      shares_(made_shares()) {
  const ReserveLayout reserve(params, extent.steps, extent.batch);
  if (arrays.keeps_reserve) {
    gate_values_ = arrays.reserve + reserve.gates(layer, direction);
    cells_ = arrays.reserve + reserve.cells(layer, direction);
  }
  const int64_t at = (layer * params.directions() + direction) * batch_ * hidden_;
  state_ = arrays.state + at;
  cell_ = arrays.cell + at;
  state_out_ = arrays.state_out == nullptr ? nullptr : arrays.state_out + at;
  cell_out_ = arrays.cell_out == nullptr ? nullptr : arrays.cell_out + at;
}

bool StrassenDirection::sizes_allow() const {
  return steps_ * batch_ >= kLeastRows && strassen::divides(batch_, inputs_, hidden_) &&
         kGates * hidden_ * hidden_ <= kCachedWeights && shares_evenly();
}

double StrassenDirection::cost_of_sample() const {
  return kFlop * static_cast<double>(steps_ * kGates * hidden_ * (hidden_ + inputs_));
}

StrassenDirection::Shares StrassenDirection::made_shares() const {
  const int64_t threads = threads_for(batch_, cost_of_sample());
  // Larger blocks read weights less often.
  const int64_t samples =
      threads == 1 || batch_ % (2 * kGroup * threads) == 0 ? 2 * kGroup : kGroup;
  return {samples, std::min<int64_t>(threads, (batch_ + samples - 1) / samples)};
}

// A thread that has more samples than others, or all of them, loses what is saved.
bool StrassenDirection::shares_evenly() const {
  const int64_t threads = threads_for(batch_, cost_of_sample());
  const int64_t blocks = (batch_ + shares_.samples - 1) / shares_.samples;
  const int64_t turns = (blocks + shares_.slots - 1) / shares_.slots;
  return 8 * threads * std::min(batch_, turns * shares_.samples) <= 9 * batch_;
}

int64_t StrassenDirection::gates_size() const { return strassen::input_rows() * kGates * hidden_; }

int64_t StrassenDirection::scratch_size() const {
  return std::max(strassen::input_scratch(strassen::input_rows(), inputs_),
                  strassen::state_scratch(shares_.samples, hidden_));
}

void StrassenDirection::prepare(float* own) {
  states_ = std::exchange(own, own + batch_ * hidden_);
  cell_states_ = std::exchange(own, own + batch_ * hidden_);
  weights_.prepare(own);
}

void StrassenDirection::run_slot(int64_t slot, float* gates, float* scratch) {
  for (int64_t first = slot * shares_.samples; first < batch_;
       first += shares_.slots * shares_.samples)
    run_samples(first, std::min(first + shares_.samples, batch_), gates, scratch);
}

// Samples [first, last), for all steps.
void StrassenDirection::run_samples(int64_t first, int64_t last, float* gates, float* scratch) {
  const int64_t samples = last - first, chunk = chunk_of(samples);
  const int64_t at = first * hidden_, numbers = samples * hidden_;
  std::copy_n(state_ + at, numbers, states_ + at);
  std::copy_n(cell_ + at, numbers, cell_states_ + at);
  Tiles tiles;
  for (int64_t s = 0; s < steps_; s += chunk) {
    const int64_t count = std::min(chunk, steps_ - s);
    multiply_input(s, count, first, samples, gates, tiles, scratch);
    for (int64_t i = 0; i < count; ++i)
      run_step(s + i, first, samples, gates + i * samples * kGates * hidden_, tiles, scratch);
  }
  if (state_out_ == nullptr) return;
  std::copy_n(states_ + at, numbers, state_out_ + at);
  std::copy_n(cell_states_ + at, numbers, cell_out_ + at);
}

// Samples [first, first + samples) in steps [step, step + count), which are paired: the last one of
// an odd number with itself, and nobody reads that.
void StrassenDirection::multiply_input(int64_t step, int64_t count, int64_t first, int64_t samples,
                                       float* gates, Tiles& tiles, float* scratch) const {
  tiles.count = 0;
  for (int64_t odd = 0; odd < 2; ++odd) {
    for (int64_t half = 0; half < 2; ++half) {
      for (int64_t pair = 0; pair < count; pair += 2) {
        const int64_t time = time_of(step + std::min(pair + odd, count - 1));
        float* const to = gates + (pair + odd) * samples * kGates * hidden_;
        for (int64_t r = half * kTile; r < samples; r += kGroup)
          tiles.add({x_ + (time * batch_ + first + r) * inputs_, to + r * kGates * columns_});
      }
    }
  }
  strassen::multiply_input(tiles.all(), inputs_, weights_.input(), hidden_,
                           samples * kGates * columns_, scratch);
}

// Samples [first, first + samples) in a step.
void StrassenDirection::run_step(int64_t step, int64_t first, int64_t samples, float* gates,
                                 Tiles& tiles, float* scratch) {
  const float* const before = states_ + first * hidden_;
  // States mostly begin with zeros, whose products are zeros: all weights are finite.
  const bool is_zero =
      step == 0 && std::all_of(before, before + samples * hidden_, [](float v) { return v == 0; });
  // The gates of columns_ units.
  const auto block_of = [&](int64_t unit) { return gates + unit * kGates * samples; };
  if (strassen::gains_on_state()) {
    tiles.count = 0;
    for (int64_t half = 0; half < 2; ++half) {
      for (int64_t r = half * kTile; r < samples; r += kGroup)
        tiles.add({before + r * hidden_, gates + r * kGates * columns_});
    }
    strassen::StateProducts products(samples, hidden_, weights_.state(), hidden_, scratch);
    is_zero ? products.clear() : products.sum_rows(tiles.all());
    for (int64_t unit = 0; unit < hidden_; unit += columns_)
      run_block(step, first, samples, unit, is_zero, block_of(unit), products);
  } else {
    if (!is_zero) multiply_state(before, samples, gates);
    for (int64_t unit = 0; unit < hidden_; unit += columns_)
      run_cells(step, first, samples, unit, block_of(unit));
  }
  if (joins_cells()) return;
  const int64_t width = kGates * columns_;
  for (int64_t r = 0; r < samples; ++r)
    finish_sample(step, first + r, gates + r * width, samples * width);
}

// columns_ units of a step; the products of a first state of zeros are there.
void StrassenDirection::run_block(int64_t step, int64_t first, int64_t samples, int64_t unit,
                                  bool is_zero, float* block, strassen::StateProducts& products) {
  const int64_t width = kGates * columns_;
  if (!joins_cells()) {
    if (!is_zero) products.multiply(unit);
    for (int64_t r = 0; r < samples; r += kGroup)
      pair_sums::add_products(products.of(r / kGroup), kTile, block + r * width,
                              block + (r + kTile) * width, width);
    run_cells(step, first, samples, unit, block);
    return;
  }
  const auto pairs = [&](int64_t r) -> pair_sums::PairCells {
    const int64_t a = first + r, b = a + kTile;
    float *c = cell_states_ + unit, *h = states_ + unit;
    float* const outputs = y_ + time_of(step) * batch_ * y_width_ + unit;
    return {products.of(r / kGroup),
            block + r * width,
            block + (r + kTile) * width,
            weights_.bias() + unit * kGates,
            c + a * hidden_,
            c + b * hidden_,
            h + a * hidden_,
            h + b * hidden_,
            outputs + a * y_width_,
            outputs + b * y_width_,
            hidden_,
            y_width_};
  };
  if (!is_zero) {
    for (int64_t r = 0; r < samples; r += kGroup) pair_sums::fetch_states(pairs(r), kTile);
    products.multiply(unit, {block, samples * width});
  }
  for (int64_t r = 0; r < samples; r += kGroup) pair_sums::run_cells(pairs(r), kTile);
}

// Whether cells follow from the products at once: nobody asks for gates, and no sample ends early.
bool StrassenDirection::joins_cells() const {
  return strassen::gains_on_state() && gate_values_ == nullptr && lengths_ == nullptr && !clip_.on;
}

// Adds the products of some samples' state, as they are, to their gates.
void StrassenDirection::multiply_state(const float* before, int64_t samples, float* gates) const {
  const float* const factors = weights_.state();
  const int64_t width = kGates * columns_;
  const int64_t panel = hidden_ * columns_, panels = kGates * hidden_ / columns_;
  for (int64_t p = 0; p < panels; ++p)
    packed_gemm::multiply_panel(
        samples, hidden_, before, hidden_, factors + p * panel, factors + (p + 1) % panels * panel,
        gates + p / kGates * samples * width + p % kGates * columns_, width, true);
}

// columns_ units of samples [first, first + samples), whose gates begin at `block`.
void StrassenDirection::run_cells(int64_t step, int64_t first, int64_t samples, int64_t unit,
                                  float* block) {
  // One by one where some may have ended.
  const int64_t together = lengths_ == nullptr ? samples : 1;
  for (int64_t r = 0; r < samples; r += together) {
    if (has_ended(step, first + r)) continue;
    const int64_t at = (first + r) * hidden_ + unit;
    float *c = cell_states_ + at, *h = states_ + at;
    const float* bias = weights_.bias() + unit * kGates;
    cell_fn_({block + r * kGates * columns_, bias, bias, c, h, c, h, c, columns_, columns_, clip_,
              together, kGates * columns_, hidden_});
  }
}

// A sample's output and reserve in one step, whose gates are block by block `apart` numbers from
// each other.
void StrassenDirection::finish_sample(int64_t step, int64_t sample, const float* gates,
                                      int64_t apart) {
  const int64_t time = time_of(step), place = (time * batch_ + sample) * hidden_;
  const float *after = states_ + sample * hidden_, *c = cell_states_ + sample * hidden_;
  float* to = y_ + (time * batch_ + sample) * y_width_;
  if (has_ended(step, sample)) {
    std::fill_n(to, hidden_, 0.0F);
  } else {
    std::copy_n(after, hidden_, to);
  }
  if (gate_values_ == nullptr) return;
  stream_copy(cells_ + place, c, static_cast<std::size_t>(hidden_) * sizeof(float));
  for (int64_t g = 0; g < kGates; ++g) {
    float* row = gate_values_ + place * kGates + g * hidden_;
    for (int64_t unit = 0; unit < hidden_; unit += columns_)
      stream_copy(row + unit, gates + unit / columns_ * apart + g * columns_,
                  static_cast<std::size_t>(columns_) * sizeof(float));
  }
}

}  // namespace mxnet::rnn
