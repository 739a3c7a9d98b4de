// SPDX-License-Identifier: Apache-2.0
// Making engines; the process's own one, and its place in fork and exit.
#include "engine/engine.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/config.h"
#include "base/first_use.h"
#include "base/fork_order.h"
#include "base/log.h"
#include "engine/dependency_engine.h"
#include "engine/here.h"

namespace mxnet {

Engine::~Engine() = default;

std::unique_ptr<Engine> make_engine(const EngineConfig& config) {
  return std::make_unique<engine::DependencyEngine>(config);
}

namespace {

// At exit, work in flight is finished; but a process that is asked to end must end, even if an
// operation never does.
constexpr auto kExitPatience = std::chrono::seconds(5);

// Null until its first use.
constinit std::atomic<engine::DependencyEngine*> g_engine{nullptr};

// Acquire pairs with the release that publishes it: whoever sees it sees all of it.
engine::DependencyEngine* engine_if_made() { return g_engine.load(std::memory_order_acquire); }

// A fork inside an operation cannot wait for that operation: the parent goes on as it is, the child
// gets an engine without workers, good enough to reach exec.
thread_local bool t_forks_inside = false;

// None is made between these, which run under first_use_mutex().
void before_fork() {
  engine::DependencyEngine* engine = engine_if_made();
  if (engine == nullptr) return;
  t_forks_inside = engine->inside();
  if (!t_forks_inside) engine->quiesce();
}
void after_fork_in_parent() {
  engine::DependencyEngine* engine = engine_if_made();
  if (engine != nullptr && !t_forks_inside) engine->resume(false);
}
void after_fork_in_child() {
  engine::DependencyEngine* engine = engine_if_made();
  if (engine == nullptr) return;
  if (!t_forks_inside) return engine->resume(true);
  engine->abandon_workers();
}
[[gnu::constructor(kForkOrderEngine)]] void register_handlers() {
  static_cast<void>(::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child));
}

void at_exit() {
  static std::atomic<bool> given_up{false};
  engine::DependencyEngine& engine = *engine_if_made();
  if (!engine.inside() && !given_up && !engine.shutdown_within(kExitPatience)) {
    given_up = true;
    log(LogLevel::kWarning, "engine: operations still run at exit and none finishes; leaving them");
  }
}

// Exit handlers run last in, first out: those of libraries that were opened since (a GPU's driver,
// what computes on it) come before the engine's, whose operations may still be calling them. The
// end of the main thread comes before all handlers, unless another thread exits.
struct EndOfMainThread {
  ~EndOfMainThread() { at_exit(); }
};
void watch_main_thread() {
  if (::gettid() != ::getpid()) return;
  thread_local const EndOfMainThread end;
  static_cast<void>(end);
}

// Never destroyed: worker threads may use it while the process exits.
[[gnu::noinline]] engine::DependencyEngine& make_process_engine() {
  const MutexLock lock(first_use_mutex());
  if (engine::DependencyEngine* made = engine_if_made()) return *made;
  auto* made = new engine::DependencyEngine(config().engine, &config().engine.info);
  g_engine.store(made, std::memory_order_release);
  g_memory_relief.store([](Device device, MemoryRetry retry,
                           void* request) { engine_if_made()->relieve(device, retry, request); },
                        std::memory_order_release);
  std::atexit(at_exit);
  watch_main_thread();
  return *made;
}

engine::DependencyEngine& process_engine() {
  engine::DependencyEngine* made = engine_if_made();
  return made != nullptr ? *made : make_process_engine();
}

}  // namespace

Engine& Engine::get() { return process_engine(); }

bool engine::run_if_free(SyncFn& fn, const OpSpec& spec) {
  return process_engine().run_if_free(fn, spec);
}

bool engine::delete_if_free(Var* var) noexcept { return process_engine().delete_if_free(var); }

std::exception_ptr engine::failure_of(Var* var) { return process_engine().failure_of(var); }

}  // namespace mxnet
