// SPDX-License-Identifier: Apache-2.0
// Making engines; the process's own one, and its place in fork and exit.
#include "engine/engine.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/leaked.h"
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

engine::DependencyEngine& process_engine() {
  static Leaked<engine::DependencyEngine> instance(config().engine, &config().engine.info);
  return *instance;
}

// A fork inside an operation cannot wait for that operation: the parent goes on as it is, the child
// gets an engine without workers, good enough to reach exec.
thread_local bool t_forks_inside = false;

void before_fork() {
  t_forks_inside = process_engine().inside();
  if (!t_forks_inside) process_engine().quiesce();
}
void after_fork_in_parent() {
  if (!t_forks_inside) process_engine().resume(false);
}
void after_fork_in_child() {
  if (!t_forks_inside) return process_engine().resume(true);
  process_engine().abandon_workers();
}

void at_exit() {
  static std::atomic<bool> given_up{false};
  engine::DependencyEngine& engine = process_engine();
  if (!engine.inside() && !given_up && !engine.shutdown_within(kExitPatience)) {
    given_up = true;
    log(LogLevel::kWarning,
        "engine: operations still run at exit and nothing finished for 5 s; leaving them");
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

}  // namespace

Engine& Engine::get() {
  static const bool registered = [] {
    process_engine();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    std::atexit(at_exit);
    watch_main_thread();
    return true;
  }();
  static_cast<void>(registered);
  return process_engine();
}

bool engine::run_if_free(SyncFn& fn, const OpSpec& spec) {
  return static_cast<DependencyEngine&>(Engine::get()).run_if_free(fn, spec);
}

bool engine::delete_if_free(Var* var) noexcept { return process_engine().delete_if_free(var); }

}  // namespace mxnet
