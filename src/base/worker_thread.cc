// SPDX-License-Identifier: Apache-2.0
// The parts of base that care about new threads, in one call.
#include "base/worker_thread.h"

#include "base/fatal_signal.h"
#include "base/omp.h"

namespace mxnet {

void prepare_worker_thread() {
  unpin_inherited();
  use_alternate_signal_stack();
}

}  // namespace mxnet
