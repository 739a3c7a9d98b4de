// SPDX-License-Identifier: Apache-2.0
// The process's profiler and its place in fork and exit.
#include <pthread.h>

#include <cstdlib>

#include "base/config.h"
#include "base/fork_order.h"
#include "base/leaked.h"
#include "profiler/profiler.h"

namespace mxnet::profiler {
namespace {

std::atomic<Profiler*> g_made{nullptr};

void before_fork() {
  if (Profiler* profiler = Profiler::get_if_made()) profiler->lock_for_fork();
}
void in_parent() {
  if (Profiler* profiler = Profiler::get_if_made()) profiler->unlock_in_parent();
}
void in_child() {
  if (Profiler* profiler = Profiler::get_if_made()) profiler->unlock_in_child();
}
void at_exit() {
  if (Profiler* profiler = Profiler::get_if_made()) profiler->dump_at_exit();
}

// When the library is loaded, so that handlers of fork find this one at its place (fork_order.h)
// and the one of exit runs behind that of the engine, which finishes what is in flight.
[[gnu::constructor(kForkOrderProfiler)]] void register_handlers() {
  pthread_atfork(before_fork, in_parent, in_child);
  std::atexit(at_exit);
}

}  // namespace

Profiler& Profiler::get() {
  static Leaked<Profiler> instance(config().profiler);
  // Release pairs with the acquire below: a handler finds a whole profiler.
  g_made.store(&*instance, std::memory_order_release);
  return *instance;
}

Profiler* Profiler::get_if_made() noexcept { return g_made.load(std::memory_order_acquire); }

}  // namespace mxnet::profiler
