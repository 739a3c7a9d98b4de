// SPDX-License-Identifier: Apache-2.0
// What every thread of the library does first, whoever starts it.
#pragma once

namespace mxnet {

// Takes back the pinning inherited from the creator (KMP_AFFINITY pins a pool's threads, not those
// that they start) and gives the thread a stack for reports of fatal signals.
void prepare_worker_thread();

}  // namespace mxnet
