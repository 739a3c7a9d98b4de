// SPDX-License-Identifier: Apache-2.0
// Which steps of a plan a device may record and replay as a graph.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "exec/plan.h"

namespace mxnet {

// Why the step has to run each time anew; null for those that may be recorded. Such steps split
// what is around them.
const char* not_recordable(const Plan::Step& step, bool training);

// Steps [first, last) of a plan, all recorded or all run one by one.
struct StepRun {
  int first, last;
  bool recorded;

  bool operator==(const StepRun&) const = default;
};

// Splits [first, last) into runs as long as possible. Fewer than `least` steps are not worth a
// graph. `recordable` has one element a step of the whole plan.
std::vector<StepRun> split_runs(const std::vector<bool>& recordable, int first, int last,
                                int least);

}  // namespace mxnet
