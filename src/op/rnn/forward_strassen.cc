// SPDX-License-Identifier: Apache-2.0
// Each thread has samples of its own, and takes them through all directions and layers that wait.
#include "op/rnn/forward_strassen.h"

#include <algorithm>
#include <utility>

#include "base/config.h"
#include "base/stream_copy.h"
#include "op/rnn/strassen_direction.h"
#include "op/run/parallel.h"

namespace mxnet::rnn {

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
