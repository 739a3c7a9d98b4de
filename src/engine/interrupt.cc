// SPDX-License-Identifier: Apache-2.0
// The program's check, one for the process.
#include "engine/interrupt.h"

#include <atomic>

#include "base/error.h"
#include "engine/engine.h"

namespace mxnet::engine {
namespace {
std::atomic<InterruptCheck> g_check{nullptr};
}  // namespace

// Relaxed: a function carries no data.
void set_interrupt_check(InterruptCheck check) noexcept {
  g_check.store(check, std::memory_order_relaxed);
}
InterruptCheck interrupt_check() noexcept { return g_check.load(std::memory_order_relaxed); }

void throw_interrupted() {
  throw Error(ErrorCode::kGeneric, kEngineTag,
              "given an interrupt, expected the end of the work that is waited for");
}

}  // namespace mxnet::engine
