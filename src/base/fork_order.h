// SPDX-License-Identifier: Apache-2.0
// The order in which subsystems prepare for fork(). Handlers run last registered first before a
// fork and first registered first after it; so who calls others registers later than they: devices,
// then storage, then arrays and what operations look into, then the engine (which drains its
// operations before anything below is locked), then what makes the engine. Configuration and
// profiler are called by all of them, so they come before (as do facts that a child takes anew).
// All register when the library is loaded, in constructors of these priorities.
#pragma once
#include <pthread.h>

#include "base/lock.h"

namespace mxnet {

inline constexpr int kForkOrderConfig = 200;  // 0 to 100 are the compiler's
inline constexpr int kForkOrderProfiler = 201;
inline constexpr int kForkOrderDevice = 202;
inline constexpr int kForkOrderStorage = 203;
inline constexpr int kForkOrderArrays = 204;
inline constexpr int kForkOrderEngine = 205;
inline constexpr int kForkOrderFirstUse = 206;

// Holds the mutex over every fork: a child would wait for ever for a thread of its parent that has
// it. For who holds it and needs none of what is locked before.
template <Mutex& (*mutex)()>
void hold_over_forks() {
  constexpr auto before = []() MX_NO_THREAD_SAFETY_ANALYSIS { mutex().lock(); };
  constexpr auto after = []() MX_NO_THREAD_SAFETY_ANALYSIS { mutex().unlock(); };
  static_cast<void>(::pthread_atfork(before, after, after));
}

}  // namespace mxnet
