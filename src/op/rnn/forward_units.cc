// SPDX-License-Identifier: Apache-2.0
// Gates of a few steps at once lie block by block of units, so that a thread reads and writes lines
// that follow each other, and stay in its second-level cache until the cells have used them.
#include "op/rnn/forward_units.h"

#include <omp.h>

#include <algorithm>
#include <memory>

#include "base/config.h"
#include "op/products/packed_gemm.h"
#include "op/rnn/cells.h"
#include "op/rnn/packed_gates.h"
#include "op/rnn/pair_cells.h"
#include "op/rnn/steps.h"
#include "op/rnn/weight_products.h"
#include "op/run/parallel.h"
#include "op/run/team.h"

namespace mxnet::rnn {
namespace {

constexpr int64_t kGates = 4;
constexpr int64_t kLeastBatch = 16;
// Rows of the input that are multiplied at once: of 128 products run as fast as of more, and their
// gates stay close.
constexpr int64_t kInputRows = 128;
// Of smaller layers (numbers of the state's weights) a second-level cache holds most of each
// thread's part, or of all.
constexpr int64_t kLeastWeights = 1 << 18;

// One direction of a layer, for one call. Made and run by the thread of the kernel; within run()
// each thread of a team has blocks of units of its own, and all meet after each step.
class UnitsDirection {
 public:
  UnitsDirection(const RnnParams& params, const Extent& extent, const ForwardArrays<float>& arrays,
                 int64_t layer, int direction, const float* x, float* y, KernelContext& context)
      : layout_(params, extent.input_size),
        steps_(extent.steps),
        batch_(extent.batch),
        inputs_(layout_.input_size(layer)),
        hidden_(params.hidden()),
        columns_(packed_gemm::panel_columns<float>()),
        row_(hidden_ + 16),
        y_width_(params.out() * params.directions()),
        chunk_(std::max<int64_t>(1, kInputRows / batch_)),
        reverse_(direction == 1),
        cell_fn_(cell_forward<float>(params.mode)),
        clip_(clip_of(params)),
        short_cells_(config().onednn.rnn_strassen != 0 && !config().cuda.enforce_determinism &&
                     !clip_.on && batch_ % 2 == 0),
        x_(x),
        y_(y) {
    const float* const input = arrays.params + layout_.input_weight(layer, direction);
    const float* const state = arrays.params + layout_.state_weight(layer, direction);
    const PackedGates<OwnProducts<float>> packed(
        {.packs = true}, input, state, {inputs_, hidden_, hidden_, kGates}, arrays.home,
        arrays.home.place(layout_.input_weight(layer, direction)), context);
    kept_ = packed.kept;
    input_weights_ = packed.input;
    state_weights_ = packed.state;
    bias_ = context.workspace_of<float>(kGates * hidden_);
    const float* const input_bias = arrays.params + layout_.input_bias(layer, direction);
    const float* const state_bias = arrays.params + layout_.state_bias(layer, direction);
    for (int64_t i = 0; i < kGates * hidden_; ++i) bias_[i] = input_bias[i] + state_bias[i];
    gates_ = context.workspace_of<float>(chunk_ * batch_ * kGates * hidden_);
    for (float*& states : states_) states = context.workspace_of<float>(batch_ * row_);
    cells_ = context.workspace_of<float>(batch_ * row_);
    const int64_t at = (layer * params.directions() + direction) * batch_ * hidden_;
    copy_rows(arrays.state + at, hidden_, states_[0], row_, hidden_);
    copy_rows(arrays.cell + at, hidden_, cells_, row_, hidden_);
    state_out_ = arrays.state_out == nullptr ? nullptr : arrays.state_out + at;
    cell_out_ = arrays.cell_out == nullptr ? nullptr : arrays.cell_out + at;
  }

  void run() {
    const int64_t blocks = hidden_ / columns_;
    const double cost =
        kFlop * static_cast<double>(kGates * columns_ * (inputs_ + hidden_) * batch_);
    const int threads = threads_for(blocks, cost * static_cast<double>(steps_));
    Meeting meeting;
#pragma omp parallel num_threads(team_of(threads))
    {
      // OpenMP may give fewer threads than asked for.
      const int members = std::min(threads, omp_get_num_threads());
      const int64_t member = omp_get_thread_num();
      if (member < members)
        run_blocks(blocks * member / members, blocks * (member + 1) / members, meeting, members);
    }
    if (state_out_ == nullptr) return;
    copy_rows(states_[steps_ % 2], row_, state_out_, hidden_, hidden_);
    copy_rows(cells_, row_, cell_out_, hidden_, hidden_);
  }

 private:
  void copy_rows(const float* from, int64_t from_apart, float* to, int64_t to_apart,
                 int64_t count) const {
    for (int64_t r = 0; r < batch_; ++r)
      std::copy_n(from + r * from_apart, count, to + r * to_apart);
  }

  int64_t time_of(int64_t step) const { return reverse_ ? steps_ - 1 - step : step; }
  // Of block i / kGates the gate i % kGates.
  const float* panel(const float* weights, int64_t k, int64_t i) const {
    return weights + (i % kGates * hidden_ + i / kGates * columns_) * k;
  }
  // Those of a block of units, of the whole chunk, row after row.
  float* gates_of(int64_t block) const {
    return gates_ + block * chunk_ * batch_ * kGates * columns_;
  }

  // Blocks of units, for all steps.
  void run_blocks(int64_t first, int64_t last, Meeting& meeting, int members) {
    const int64_t width = kGates * columns_;
    for (int64_t s = 0; s < steps_; s += chunk_) {
      const int64_t count = std::min(chunk_, steps_ - s);
      // The rows of the chunk follow each other in time.
      const int64_t start = reverse_ ? steps_ - s - count : s;
      for (int64_t i = kGates * first; i < kGates * last; ++i)
        packed_gemm::multiply_panel(count * batch_, inputs_, x_ + start * batch_ * inputs_, inputs_,
                                    panel(input_weights_, inputs_, i),
                                    i + 1 < kGates * last
                                        ? panel(input_weights_, inputs_, i + 1)
                                        : panel(state_weights_, hidden_, kGates * first),
                                    gates_of(i / kGates) + i % kGates * columns_, width, false);
      for (int64_t step = s; step < s + count; ++step) {
        const int64_t row = (time_of(step) - start) * batch_ * width;
        for (int64_t i = 0; i < last - first; ++i) {
          // Back and forth: the weights used last in a step are still close at the next one.
          const int64_t by = step % 2 == 0 ? 1 : -1;
          const int64_t block = by > 0 ? first + i : last - 1 - i;
          const bool ends = i + 1 == last - first;
          run_block(step, block, ends ? block : block + by, gates_of(block) + row);
        }
        meeting.wait(members);
      }
    }
  }

  void run_block(int64_t step, int64_t block, int64_t next, float* gates) {
    const int64_t width = kGates * columns_, unit = block * columns_;
    for (int64_t g = 0; g < kGates; ++g)
      packed_gemm::multiply_panel(
          batch_, hidden_, states_[step % 2], row_,
          panel(state_weights_, hidden_, block * kGates + g),
          panel(state_weights_, hidden_, g + 1 < kGates ? block * kGates + g + 1 : next * kGates),
          gates + g * columns_, width, true);
    float *h = states_[(step + 1) % 2] + unit, *c = cells_ + unit;
    float* const outputs = y_ + time_of(step) * batch_ * y_width_ + unit;
    alignas(64) float bias[kGates * 64];
    for (int64_t g = 0; g < kGates; ++g)
      std::copy_n(bias_ + g * hidden_ + unit, columns_, bias + g * columns_);
    if (short_cells_) {
      const int64_t half = batch_ / 2;
      pair_sums::run_cells({nullptr, gates, gates + half * width, bias, c, c + half * row_, h,
                            h + half * row_, outputs, outputs + half * y_width_, row_, y_width_},
                           half);
      return;
    }
    cell_fn_({gates, bias, bias, c, h, c, h, c, columns_, columns_, clip_, batch_, width, row_});
    copy_rows(h, row_, outputs, y_width_, columns_);
  }

  const ParamLayout layout_;
  const int64_t steps_, batch_, inputs_, hidden_, columns_;
  const int64_t row_;  // of states: a line more, so that rows do not meet in the first-level cache
  const int64_t y_width_, chunk_;
  const bool reverse_;
  const CellForward<float> cell_fn_;
  const Clip clip_;
  // Cells in fewer instructions, two samples at a time: with other last digits, so that they are
  // left out where products are as they are elsewhere.
  const bool short_cells_;
  const float* const x_;
  float* const y_;
  std::shared_ptr<const std::byte> kept_;  // the packed weights, where a cache has them
  const float *input_weights_, *state_weights_;
  float *bias_, *gates_, *cells_;
  float* states_[2];  // before and after a step, in turns
  float *state_out_, *cell_out_;
};

}  // namespace

bool gains_by_units(const RnnParams& params, const Extent& extent,
                    const ForwardArrays<float>& arrays, const KernelContext& context) {
  const int64_t hidden = params.hidden();
  return packed_gemm::has_tall_tiles() && arrays.packs && params.mode == Mode::kLstm &&
         !params.projection_size && !context.training() && !arrays.keeps_reserve &&
         arrays.lengths == nullptr && extent.batch >= kLeastBatch &&
         hidden % packed_gemm::panel_columns<float>() == 0 &&
         kGates * hidden * hidden > kLeastWeights;
}

bool run_by_units(const RnnParams& params, const Extent& extent, const ForwardArrays<float>& arrays,
                  int64_t layer, int direction, const float* x, float* y, KernelContext& context) {
  if (!gains_by_units(params, extent, arrays, context)) return false;
  UnitsDirection(params, extent, arrays, layer, direction, x, y, context).run();
  return true;
}

}  // namespace mxnet::rnn
