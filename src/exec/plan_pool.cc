// SPDX-License-Identifier: Apache-2.0
// Who takes instances.
#include "exec/plan_pool.h"

namespace mxnet {

Ref<PlanInstance> PlanPool::take() {
  if (!several_threads()) {
    uint32_t nobody = 0;
    // Relaxed: a hint.
    if (!first_thread_.compare_exchange_strong(nobody, thread_number(),
                                               std::memory_order_relaxed) &&
        nobody != thread_number())
      several_.store(true, std::memory_order_relaxed);
  }
  return idle_.take();
}

}  // namespace mxnet
