// SPDX-License-Identifier: Apache-2.0
// Each thread has samples of its own, and takes them through all directions and layers that wait:
// it multiplies the input of a few steps, and then step by step the state. The gates of these steps
// lie in the order in which products come, and go to the reserve, which nobody reads soon, only
// when they are done.
#include "op/rnn/forward_strassen.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/config.h"
#include "base/stream_copy.h"
#include "op/products/packed_gemm.h"
#include "op/rnn/cells.h"
#include "op/rnn/magnitudes.h"
#include "op/rnn/pair_cells.h"
#include "op/rnn/steps.h"
#include "op/rnn/strassen.h"
#include "op/rnn/weight_cache.h"
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

// Those of a chunk of steps, or of a step.
struct Tiles {
  void add(const strassen::Tile& tile) { at[count++] = tile; }
  std::span<const strassen::Tile> all() const { return {at.data(), count}; }
  std::array<strassen::Tile, strassen::kMostRows / kTile> at;
  std::size_t count = 0;
};

}  // namespace

// One direction of a layer.
class StrassenDirection {
 public:
  StrassenDirection(const RnnParams& params, const Extent& extent,
                    const ForwardArrays<float>& arrays, int64_t layer, int direction,
                    const float* x, float* y)
      : layout_(params, extent.input_size),
        steps_(extent.steps),
        batch_(extent.batch),
        inputs_(layout_.input_size(layer)),
        hidden_(params.hidden()),
        columns_(strassen::columns()),
        y_width_(params.out() * params.directions()),
        arrays_(arrays),
        layer_(layer),
        direction_(direction),
        lengths_(arrays.lengths),
        cell_fn_(cell_forward<float>(params.mode)),
        clip_(clip_of(params)),
        x_(x),
        y_(y),
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

  bool sizes_allow() const {
    return steps_ * batch_ >= kLeastRows && strassen::divides(batch_, inputs_, hidden_) &&
           kGates * hidden_ * hidden_ <= kCachedWeights && shares_evenly();
  }

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
  double cost_of_sample() const {
    return kFlop * static_cast<double>(steps_ * kGates * hidden_ * (hidden_ + inputs_));
  }

  // The sums of the weights that outlive the call, if it keeps any.
  bool finds_sums() {
    kept_ = kept_weights(arrays_.home, key(WeightForm::kSums),
                         static_cast<std::size_t>(sums_size()) * sizeof(float),
                         [&](std::byte* to) { sum_weights(reinterpret_cast<float*>(to)); });
    sums_ = reinterpret_cast<const float*>(kept_.get());
    return kept_ != nullptr;
  }

  // Numbers of scratch: of each slot, and of this direction.
  int64_t gates_size() const { return strassen::input_rows() * kGates * hidden_; }
  int64_t scratch_size() const {
    return std::max(strassen::input_scratch(strassen::input_rows(), inputs_),
                    strassen::state_scratch(shares_.samples, hidden_));
  }
  int64_t own_size() const {
    return 2 * batch_ * hidden_ + kGates * hidden_ + (kept_ != nullptr ? 0 : sums_size());
  }
  // Begins with own_size() numbers at `own`; makes the sums of the weights that were not found.
  void prepare(float* own) {
    const auto take = [&](int64_t count) { return std::exchange(own, own + count); };
    states_ = take(batch_ * hidden_);
    cell_states_ = take(batch_ * hidden_);
    bias_ = take(kGates * hidden_);
    if (kept_ == nullptr) {
      sum_weights(own);
      sums_ = own;
    }
    const float* biases = arrays_.params + layout_.input_bias(layer_, direction_);
    sum_biases(biases, arrays_.params + layout_.state_bias(layer_, direction_), bias_);
  }

  // Those samples that have their turn in a slot, with the slot's gates and scratch.
  void run_slot(int64_t slot, float* gates, float* scratch) {
    for (int64_t first = slot * shares_.samples; first < batch_;
         first += shares_.slots * shares_.samples)
      run_samples(first, std::min(first + shares_.samples, batch_), gates, scratch);
  }

 private:
  Shares made_shares() const {
    const int64_t threads = threads_for(batch_, cost_of_sample());
    // Larger blocks read weights less often.
    const int64_t samples =
        threads == 1 || batch_ % (2 * kGroup * threads) == 0 ? 2 * kGroup : kGroup;
    return {samples, std::min<int64_t>(threads, (batch_ + samples - 1) / samples)};
  }
  // A thread that has more samples than others, or all of them, loses what is saved.
  bool shares_evenly() const {
    const int64_t threads = threads_for(batch_, cost_of_sample());
    const int64_t blocks = (batch_ + shares_.samples - 1) / shares_.samples;
    const int64_t turns = (blocks + shares_.slots - 1) / shares_.slots;
    return 8 * threads * std::min(batch_, turns * shares_.samples) <= 9 * batch_;
  }

  WeightKey key(WeightForm form) const {
    // A layer's own place; the parameters may be of another type than float.
    return {arrays_.home.place(layout_.input_weight(layer_, direction_)),
            inputs_,
            hidden_,
            hidden_,
            kGates,
            sizeof(float),
            form};
  }

  // Numbers that the right factors of the state's products take, of some units.
  int64_t state_factors(int64_t units) const {
    return strassen::gains_on_state() ? strassen::state_sums(hidden_, units)
                                      : kGates * hidden_ * units;
  }

  int64_t time_of(int64_t step) const { return direction_ == 1 ? steps_ - 1 - step : step; }

  int64_t sums_size() const {
    return strassen::input_sums(inputs_, hidden_) + state_factors(hidden_);
  }

  void sum_weights(float* to) const {
    const float* const input = arrays_.params + layout_.input_weight(layer_, direction_);
    const float* const state = arrays_.params + layout_.state_weight(layer_, direction_);
    const int64_t blocks = hidden_ / columns_;
    const int64_t input_block = strassen::input_sums(inputs_, columns_);
    const int64_t state_block = state_factors(columns_);
    float* states = to + blocks * input_block;
    parallel_for(
        blocks, static_cast<double>(input_block + state_block),
        [&](int64_t first, int64_t last) {
          std::vector<float> panels(
              static_cast<std::size_t>(kGates * columns_ * std::max(inputs_, hidden_)));
          for (int64_t b = first; b < last; ++b) {
            pack(input, inputs_, b, panels);
            strassen::sum_input_weights(panels.data(), inputs_, to + b * input_block);
            pack(state, hidden_, b, panels);
            if (strassen::gains_on_state())
              strassen::sum_state_weights(panels.data(), hidden_, states + b * state_block);
            else
              std::copy_n(panels.data(), state_block, states + b * state_block);
          }
          finish_stream_copies();
        },
        1);
  }

  // A block of units of all gates.
  void pack(const float* weights, int64_t k, int64_t block, std::vector<float>& panels) const {
    for (int64_t g = 0; g < kGates; ++g) {
      const float* rows = weights + (g * hidden_ + block * columns_) * k;
      packed_gemm::pack<float>({rows, 1, k}, k, columns_, 0, columns_,
                               panels.data() + g * columns_ * k);
    }
  }

  // In the order of the gates of a row: block by block those of each gate.
  void sum_biases(const float* input, const float* state, float* sums) const {
    for (int64_t unit = 0; unit < hidden_; unit += columns_) {
      for (int64_t i = unit; i < kGates * hidden_; i += hidden_) {
        for (int64_t j = i; j < i + columns_; ++j) *sums++ = input[j] + state[j];
      }
    }
  }

  // Samples [first, last), for all steps.
  void run_samples(int64_t first, int64_t last, float* gates, float* scratch) {
    const int64_t samples = last - first, chunk = chunk_of(samples);
    const int64_t at = first * hidden_, numbers = samples * hidden_;
    std::copy_n(state_ + at, numbers, states_ + at);
    std::copy_n(cell_ + at, numbers, cell_states_ + at);
    Tiles tiles;
    const int64_t apart = samples * kGates * columns_;
    const int64_t step_size = samples * kGates * hidden_;
    for (int64_t s = 0; s < steps_; s += chunk) {
      const int64_t count = std::min(chunk, steps_ - s);
      // Steps are paired; the last one of an odd number with itself, and nobody reads that.
      tiles.count = 0;
      for (int64_t odd = 0; odd < 2; ++odd) {
        for (int64_t half = 0; half < 2; ++half) {
          for (int64_t pair = 0; pair < count; pair += 2) {
            const int64_t time = time_of(s + std::min(pair + odd, count - 1));
            for (int64_t r = half * kTile; r < samples; r += kGroup)
              tiles.add({x_ + (time * batch_ + first + r) * inputs_,
                         gates + (pair + odd) * step_size + r * kGates * columns_});
          }
        }
      }
      strassen::multiply_input(tiles.all(), inputs_, sums_, hidden_, apart, scratch);
      for (int64_t i = 0; i < count; ++i)
        run_step(s + i, first, samples, gates + i * step_size, tiles, scratch);
    }
    if (state_out_ == nullptr) return;
    std::copy_n(states_ + at, numbers, state_out_ + at);
    std::copy_n(cell_states_ + at, numbers, cell_out_ + at);
  }

  // Samples [first, first + samples) in a step.
  void run_step(int64_t step, int64_t first, int64_t samples, float* gates, Tiles& tiles,
                float* scratch) {
    const float* const before = states_ + first * hidden_;
    // States mostly begin with zeros, whose products are zeros: all weights are finite.
    const bool is_zero = step == 0 && std::all_of(before, before + samples * hidden_,
                                                  [](float v) { return v == 0; });
    if (strassen::gains_on_state()) {
      tiles.count = 0;
      for (int64_t half = 0; half < 2; ++half) {
        for (int64_t r = half * kTile; r < samples; r += kGroup)
          tiles.add({before + r * hidden_, gates + r * kGates * columns_});
      }
      strassen::StateProducts products(samples, hidden_, state_factors_at(), hidden_, scratch);
      is_zero ? products.clear() : products.sum_rows(tiles.all());
      for (int64_t unit = 0; unit < hidden_; unit += columns_)
        run_block(step, first, samples, unit, is_zero, block_of(gates, samples, unit), products);
    } else {
      if (!is_zero) multiply_state(before, samples, gates);
      for (int64_t unit = 0; unit < hidden_; unit += columns_)
        run_cells(step, first, samples, unit, block_of(gates, samples, unit));
    }
    if (joins_cells()) return;
    const int64_t width = kGates * columns_;
    for (int64_t r = 0; r < samples; ++r)
      finish_sample(step, first + r, gates + r * width, samples * width);
  }

  // columns_ units of a step; the products of a first state of zeros are there.
  void run_block(int64_t step, int64_t first, int64_t samples, int64_t unit, bool is_zero,
                 float* block, strassen::StateProducts& products) {
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
      return {products.of(r / kGroup), block + r * width, block + (r + kTile) * width,
              bias_ + unit * kGates,   c + a * hidden_,   c + b * hidden_,
              h + a * hidden_,         h + b * hidden_,   outputs + a * y_width_,
              outputs + b * y_width_,  hidden_,           y_width_};
    };
    if (!is_zero) {
      for (int64_t r = 0; r < samples; r += kGroup) pair_sums::fetch_states(pairs(r), kTile);
      products.multiply(unit, {block, samples * width});
    }
    for (int64_t r = 0; r < samples; r += kGroup) pair_sums::run_cells(pairs(r), kTile);
  }

  // The gates of columns_ units.
  float* block_of(float* gates, int64_t samples, int64_t unit) const {
    return gates + unit * kGates * samples;
  }
  const float* state_factors_at() const { return sums_ + strassen::input_sums(inputs_, hidden_); }

  // Whether cells follow from the products at once: nobody asks for gates, and no sample ends
  // early.
  bool joins_cells() const {
    return strassen::gains_on_state() && gate_values_ == nullptr && lengths_ == nullptr &&
           !clip_.on;
  }

  // Adds the products of some samples' state, as they are, to their gates.
  void multiply_state(const float* before, int64_t samples, float* gates) const {
    const float* const factors = state_factors_at();
    const int64_t width = kGates * columns_;
    const int64_t panel = hidden_ * columns_, panels = kGates * hidden_ / columns_;
    for (int64_t p = 0; p < panels; ++p)
      packed_gemm::multiply_panel(samples, hidden_, before, hidden_, factors + p * panel,
                                  factors + (p + 1) % panels * panel,
                                  gates + p / kGates * samples * width + p % kGates * columns_,
                                  width, true);
  }

  bool has_ended(int64_t step, int64_t sample) const {
    return lengths_ != nullptr && time_of(step) >= lengths_[sample];
  }

  // columns_ units of samples [first, first + samples), whose gates begin at `block`.
  void run_cells(int64_t step, int64_t first, int64_t samples, int64_t unit, float* block) {
    // One by one where some may have ended.
    const int64_t together = lengths_ == nullptr ? samples : 1;
    for (int64_t r = 0; r < samples; r += together) {
      if (has_ended(step, first + r)) continue;
      const int64_t at = (first + r) * hidden_ + unit;
      float *c = cell_states_ + at, *h = states_ + at;
      const float* bias = bias_ + unit * kGates;
      cell_fn_({block + r * kGates * columns_, bias, bias, c, h, c, h, c, columns_, columns_, clip_,
                together, kGates * columns_, hidden_});
    }
  }

  // A sample's output and reserve in one step, whose gates are block by block `apart` numbers from
  // each other.
  void finish_sample(int64_t step, int64_t sample, const float* gates, int64_t apart) {
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

  const ParamLayout layout_;
  const int64_t steps_, batch_, inputs_, hidden_, columns_, y_width_;
  const ForwardArrays<float>& arrays_;
  const int64_t layer_;
  const int direction_;
  const int64_t* const lengths_;
  const CellForward<float> cell_fn_;
  const Clip clip_;
  const float *x_, *state_, *cell_;
  float *y_, *gate_values_ = nullptr, *cells_ = nullptr;  // the latter two where they are kept
  float *state_out_, *cell_out_;
  std::shared_ptr<const std::byte> kept_;  // the sums, where a cache has them
  const float* sums_ = nullptr;
  float* bias_ = nullptr;                             // of input and state together
  float *states_ = nullptr, *cell_states_ = nullptr;  // before a step, then after it
  const Shares shares_;
};

StrassenRuns::StrassenRuns(KernelContext& context) : context_(context) {}
StrassenRuns::~StrassenRuns() = default;

bool StrassenRuns::add(const RnnParams& params, const Extent& extent,
                       const ForwardArrays<float>& arrays, int64_t layer, int direction,
                       const float* x, float* y) {
  // Where threads cannot share the samples evenly products are plain, so that their number decides
  // about the last bits.
  const Config& settings = config();
  if (settings.onednn.rnn_strassen == 0 || settings.cuda.enforce_determinism || !arrays.packs ||
      context_.training() || params.mode != Mode::kLstm || params.projection_size)
    return false;
  auto next = std::make_unique<StrassenDirection>(params, extent, arrays, layer, direction, x, y);
  if (!next->sizes_allow()) return false;
  // What cells of finite numbers hand up is 1 at most: nobody needs to see it.
  const auto below = std::count_if(waiting_.begin(), waiting_.end(),
                                   [&](const auto& each) { return each->layer() == layer - 1; });
  const auto allow = [&](const float* numbers) {
    return next->numbers_allow(magnitudes(params, extent, arrays, layer, direction, numbers));
  };
  if (below != params.directions() || !allow(nullptr)) {
    if (layer > 0) run();
    if (!allow(x)) return false;
  }
  const bool found = next->finds_sums();
  if (!waiting_.empty() && (!found || next->shares() != waiting_.front()->shares())) run();
  waiting_.push_back(std::move(next));
  // Sums of the weights that are made in scratch are a layer's at a time.
  if (!found) run();
  return true;
}

void StrassenRuns::run() {
  if (waiting_.empty()) return;
  const auto shares = waiting_.front()->shares();
  int64_t gates = 0, scratch = 0, own = 0;
  double cost = 0;
  for (const auto& each : waiting_) {
    gates = std::max(gates, each->gates_size());
    scratch = std::max(scratch, each->scratch_size());
    own += each->own_size();
    cost += each->cost_of_sample() * static_cast<double>(shares.samples);
  }
  float* const all_gates = scratch_of(shares.slots * (gates + scratch) + own);
  float* const all_scratch = all_gates + shares.slots * gates;
  float* at = all_scratch + shares.slots * scratch;
  for (const auto& each : waiting_) {
    each->prepare(at);
    at += each->own_size();
  }
  parallel_for(
      shares.slots, cost,
      [&](int64_t begin, int64_t end) {
        for (int64_t slot = begin; slot < end; ++slot) {
          for (const auto& each : waiting_)
            each->run_slot(slot, all_gates + slot * gates, all_scratch + slot * scratch);
        }
        finish_stream_copies();
      },
      1);
  waiting_.clear();
}

float* StrassenRuns::scratch_of(int64_t count) {
  if (count > count_) {
    numbers_ = context_.workspace_of<float>(count);
    count_ = count;
  }
  return numbers_;
}

}  // namespace mxnet::rnn
