// SPDX-License-Identifier: Apache-2.0
// Operators that cannot be recorded, and the runs between them.
#include "exec/graph_segments.h"

#include "exec/run_on_host.h"
#include "op/run/read_back.h"

namespace mxnet {
const char* not_recordable(const Plan::Step& step, bool training) {
  if (step.accumulate) return nullptr;
  if (step.kept) return "it runs only when an array that it reads has changed";
  if (step.prepared != nullptr) return "it keeps what it has prepared on the host";
  if (step.op->uses_random(step.params, training))
    return "its random numbers differ from run to run";
  if (runs_on_host(*step.kernel, Device::gpu()))
    return "it has no kernel for GPUs and runs on the host";
  if (waits_for_device(*step.op)) return "the host reads numbers that it works with";
  return nullptr;
}

std::vector<StepRun> split_runs(const std::vector<bool>& recordable, int first, int last,
                                int least) {
  std::vector<StepRun> runs;
  const auto add = [&](int from, int to, bool recorded) {
    if (!recorded && !runs.empty() && !runs.back().recorded) {
      runs.back().last = to;
    } else {
      runs.push_back({from, to, recorded});
    }
  };
  for (int at = first; at < last;) {
    const bool recorded = recordable[static_cast<std::size_t>(at)];
    int end = at + 1;
    while (end < last && recordable[static_cast<std::size_t>(end)] == recorded) ++end;
    add(at, end, recorded && end - at >= least);
    at = end;
  }
  return runs;
}

}  // namespace mxnet
