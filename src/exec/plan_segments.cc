// SPDX-License-Identifier: Apache-2.0
// Segments of plans: the steps of one engine operation, what it reads and writes, and where it may
// run.
#include <algorithm>

#include "exec/plan.h"
#include "exec/run_on_host.h"
#include "op/fused/pointwise.h"

namespace mxnet {
namespace {

// Sizes up to which a segment may run on its caller's thread: that of an eager call for each value,
// and together what takes about as long as a few wake-ups of a worker.
constexpr int64_t kInlineElements = 16384;
constexpr int64_t kInlineSegmentElements = 16 * kInlineElements;

std::vector<int> written_inputs(const Plan::Step& step) {
  std::vector<int> written = step.op->mutated_inputs(step.params);
  const std::vector<int> clobbered = step.op->clobbered_inputs(step.params);
  written.insert(written.end(), clobbered.begin(), clobbered.end());
  return written;
}
bool contains(const std::vector<int>& inputs, uint32_t i) {
  return std::ranges::find(inputs, static_cast<int>(i)) != inputs.end();
}

}  // namespace

// Those of a chain are what its operators would have one by one: two inputs and a result each.
int64_t Plan::elements_of_operator(const Step& step) const {
  if (operator_count(*step.op, step.params) > 1)
    return 3 * tensors_[step.first_tensor + step.num_in].type->shape.size();
  int64_t sum = 0;
  for (uint32_t t = 0; t < step.num_in + step.num_out; ++t)
    sum += tensors_[step.first_tensor + t].type->shape.size();
  return sum;
}

void Plan::add_segments(int first_step, int last_step, int bulk) {
  const auto count = [&](int s) {
    const Step& step = steps_[static_cast<std::size_t>(s)];
    return operator_count(*step.op, step.params);
  };
  for (int s = first_step; s < last_step;) {
    Segment segment{};
    segment.first_step = s;
    int operators = count(s);
    while (++s < last_step && (bulk <= 0 || operators + count(s) <= bulk)) operators += count(s);
    segment.last_step = s;
    segment.cheap = !options_.device.is_gpu();
    int64_t sum = 0;
    for (int i = segment.first_step; i < segment.last_step; ++i) {
      const Step& step = steps_[static_cast<std::size_t>(i)];
      const int64_t size = elements_of_operator(step);
      sum += size * operator_count(*step.op, step.params);
      segment.cheap = segment.cheap && step.op->may_run_inline() && size <= 3 * kInlineElements;
      if (step.op->uses_random(step.params, options_.training)) {
        segment.random = true;
        segment.random_on_host |=
            step.kernel != nullptr && runs_on_host(*step.kernel, options_.device);
      }
    }
    segment.cheap = segment.cheap && sum <= kInlineSegmentElements;
    segment.narrow = segment.cheap && !options_.on_caller;
    if (options_.on_caller && !options_.device.is_gpu()) segment.cheap = true;
    add_uses(&segment);
    add_arenas(&segment);
    segments_.push_back(segment);
  }
}

void Plan::add_uses(Segment* segment) {
  struct Touch {
    int external;
    uint32_t slot;
    bool write;
  };
  std::vector<Touch> touches;
  for (int s = segment->first_step; s < segment->last_step; ++s) {
    const Step& step = steps_[static_cast<std::size_t>(s)];
    const std::vector<int> written = written_inputs(step);
    for (uint32_t i = 0; i < step.num_in + step.num_out; ++i) {
      const uint32_t slot = step.first_tensor + i;
      const bool write = i >= step.num_in || contains(written, i);
      if (tensors_[slot].external >= 0) touches.push_back({tensors_[slot].external, slot, write});
    }
  }
  std::stable_sort(touches.begin(), touches.end(),
                   [](const Touch& a, const Touch& b) { return a.external < b.external; });
  segment->first_use = static_cast<uint32_t>(uses_.size());
  for (const Touch& touch : touches) {
    if (uses_.size() == segment->first_use || uses_.back().external != touch.external)
      uses_.push_back({touch.external, false, static_cast<uint32_t>(slots_.size()), 0});
    slots_.push_back(touch.slot);
    ++uses_.back().count;
    uses_.back().writes = uses_.back().writes || touch.write;
  }
  segment->num_uses = static_cast<uint32_t>(uses_.size()) - segment->first_use;
}

void Plan::add_arenas(Segment* segment) const {
  for (int s = segment->first_step; s < segment->last_step; ++s) {
    const Step& step = steps_[static_cast<std::size_t>(s)];
    segment->arenas_written |= uint32_t{1} << step.workspace;
    const std::vector<int> written = written_inputs(step);
    for (uint32_t i = 0; i < step.num_in + step.num_out; ++i) {
      const int arena = tensors_[step.first_tensor + i].arena;
      if (arena < 0) continue;
      const bool write = i >= step.num_in || contains(written, i);
      (write ? segment->arenas_written : segment->arenas_read) |= uint32_t{1} << arena;
    }
  }
  segment->arenas_read &= ~segment->arenas_written;
  segment->arenas_begun = segment->arenas_written;
  for (const Segment& before : segments_) segment->arenas_begun &= ~before.arenas_written;
}

const char* Plan::segment_name(const Segment& segment) const {
  if (segment.last_step - segment.first_step == 1)
    return steps_[static_cast<std::size_t>(segment.first_step)].title;
  return segment.first_step < num_forward_steps_ ? "forward" : "backward";
}

}  // namespace mxnet
