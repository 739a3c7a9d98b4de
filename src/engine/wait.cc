// SPDX-License-Identifier: Apache-2.0
// Waiting for operations, and the moments when there must be none: fork and the end.
#include <memory>
#include <utility>

#include "base/config.h"
#include "base/cpu_relax.h"
#include "base/error.h"
#include "base/omp.h"
#include "engine/dependency_engine.h"
#include "engine/interrupt.h"

namespace mxnet::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kWatchEra = 1;   // shifted by the era
constexpr uint32_t kWatchBoth = 4;  // both eras together

// How often a drain looks for progress and lets in a push that the work in flight may depend on.
constexpr auto kDrainSlice = std::chrono::milliseconds(20);
// How long the end of a program that has been interrupted waits for an operation to finish.
constexpr std::chrono::nanoseconds kLeavePatience = std::chrono::seconds(2);
// A wait stays awake for a moment before it sleeps: about 5 us, what sleeping and waking would
// cost.
constexpr int kSpins = 100;

std::atomic<uint64_t> g_engine_ids{0};
std::atomic<uint32_t> g_thread_numbers{0};

std::unique_ptr<Placement> make_placement(DependencyEngine& engine, const EngineConfig& config) {
  switch (config.type) {
    case EngineType::kNaive:
      return make_caller_placement();
    case EngineType::kThreaded:
      return make_shared_placement(engine, config);
    case EngineType::kThreadedPerDevice:
      break;
  }
  return make_device_placement(engine, config);
}

[[noreturn]] void refuse_inside(const char* what) {
  throw Error(ErrorCode::kGeneric, kEngineTag,
              std::string("given ") + what +
                  " inside an operation, expected it outside: it could wait for itself");
}

}  // namespace

constinit thread_local ThreadState t_thread;

void number_thread(ThreadState& thread) {
  // Relaxed: only uniqueness matters.
  thread.number = g_thread_numbers.fetch_add(1, std::memory_order_relaxed) + 1;
}

DependencyEngine::DependencyEngine(const EngineConfig& config, const Live<bool>* info)
    : config_(config),
      id_(g_engine_ids.fetch_add(1, std::memory_order_relaxed) + 1),
      info_(info != nullptr ? *info : config_.info),
      placement_(make_placement(*this, config_)),
      at_once_(config.type == EngineType::kNaive),
      cpu_workers_(config.cpu_worker_nthreads),
      run_ahead_(config.run_ahead_bytes) {
  register_engine(id_);
}

DependencyEngine::~DependencyEngine() {
  shutdown();
  unregister_engine(id_);
}

void DependencyEngine::wait_for_var(Var* var) {
  wait_for(var, true);
  fences_.wait(var, true);
  if (std::exception_ptr error = failures_.take(var)) std::rethrow_exception(error);
}

void DependencyEngine::wait_to_read(Var* var) {
  wait_for(var, false);
  fences_.wait(var, false);
  const std::span<Var* const> list{&var, 1};
  if (!failures_.any() || failures_.find(list, {}) == nullptr) return;
  // Clearing it now would make readers that were pushed before succeed or fail by chance: they come
  // first.
  wait_for_var(var);
}

void DependencyEngine::wait_for(Var* var, bool write) {
  ThreadState& thread = this_thread();
  flush(thread);
  if (write ? var->idle() : var->readable()) return;
  if (inside_frame(thread) != nullptr) refuse_inside("a wait");
  // A waiter that may leave before the event leaves it behind on the heap.
  const InterruptCheck leave = interrupt_check();
  OneShot mine;
  std::unique_ptr<OneShot> left = leave == nullptr ? nullptr : std::make_unique<OneShot>();
  OneShot& done = left == nullptr ? mine : *left;
  Operation* operation = Operation::make();
  const std::span<Var*const> list{&var, 1}, none;
  FewAccesses few;
  const Access* order = operation->copy_lists(
      {.device = {}, .reads = write ? none : list, .writes = write ? list : none}, few);
  operation->role = Role::kNotify;
  operation->waiter = &done;
  operation->temp_bytes = 0;
  operation->era = enter(thread);
  if (take_or_queue(operation, order)) {
    Frame frame(*this, nullptr, nullptr);
    place(operation, frame);
    drain(frame);
  }
  const bool stays = help_until([&done] { return done.rung(); }, &done, leave);
  if (left == nullptr) {
    done.wait();
  } else if (!stays) {
    if (done.abandon()) static_cast<void>(left.release());
    throw_interrupted();
  } else if (!done.wait_unless(leave)) {
    static_cast<void>(left.release());
    throw_interrupted();
  }
  if (watched()) ring_if_idle();
}

// Runs what workers have not taken yet, until `done()`: waking one of them, and being woken by it,
// may take longer than what the caller waits for. False where `leave` says that the wait ends.
template <class Done>
bool DependencyEngine::help_until(Done done, const OneShot* event, InterruptCheck leave) {
  WorkerPool* const pool = placement_->pool_to_help();
  if (pool == nullptr) return true;
  release_omp_pool();  // from now on it is the workers that begin regions
  const OneThread narrow;
  Frame frame(*this, pool, nullptr);
  frame.helps = true;
  frame.until = event;
  LeaveWatch watch(leave);
  frame.watch = &watch;
  while (!watch.leaves()) {  // first: what it has said in between is not to be lost
    if (done()) return true;
    Operation* operation = pool->take_to_help();
    if (operation == nullptr) return true;
    run_from_queue(operation, frame);
  }
  return false;
}

void DependencyEngine::wait_for_all() {
  ThreadState& thread = this_thread();
  if (inside_frame(thread) != nullptr) refuse_inside("wait_for_all");
  flush(thread);
  {
    MutexLock lock(turning_);
    wait_for_era(tally_.turn());
    wait_for_era(tally_.turn());
  }
  fences_.wait_all();
  if (std::exception_ptr error = failures_.take_all()) std::rethrow_exception(error);
}

void DependencyEngine::wait_for_era(bool era) {
  const InterruptCheck leave = interrupt_check();
  // Leaving is safe before and after the sleep: the next call turns and waits for both eras again.
  if (!help_until([&] { return tally_.idle(era); }, nullptr, leave)) throw_interrupted();
  for (int i = 0; i < kSpins; ++i) {
    if (tally_.idle(era)) return;
    cpu_relax();
  }
  // Sequentially consistent: set before the sleeper announces itself, so whoever sees the sleeper
  // sees the bit.
  watched_.fetch_or(kWatchEra << uint32_t{era}, std::memory_order_seq_cst);
  const auto idle = [&] { return tally_.idle(era); };
  bool stays = true;
  if (leave == nullptr) {
    idle_.wait(idle);
  } else {
    while (stays && !idle_.wait_until(Clock::now() + kInterruptSlice, idle)) stays = leave() == 0;
  }
  watched_.fetch_and(~(kWatchEra << uint32_t{era}), std::memory_order_seq_cst);
  if (!stays) throw_interrupted();
}

void DependencyEngine::ring_if_idle() {
  const uint32_t watched = watched_.load(std::memory_order_seq_cst);
  if (((watched & kWatchEra) != 0 && tally_.idle(false)) ||
      ((watched & (kWatchEra << 1)) != 0 && tally_.idle(true)) ||
      ((watched & kWatchBoth) != 0 && tally_.idle())) {
    idle_.ring();
  }
}

void DependencyEngine::close_gate() { gate_closed_.store(true, std::memory_order_seq_cst); }

void DependencyEngine::open_gate() {
  gate_closed_.store(false, std::memory_order_seq_cst);
  gate_.ring();
}

// Returns with the gate closed and nothing in flight; or false, with the gate open, when nothing
// finished for `patience`. Once `leave` has said so, what has not begun is dropped, and patience is
// short.
bool DependencyEngine::drain_all(std::chrono::nanoseconds patience, InterruptCheck leave) {
  watched_.fetch_or(kWatchBoth, std::memory_order_seq_cst);
  uint64_t finished = tally_.finished();
  Clock::time_point progress = Clock::now();
  bool idle = false;
  for (;;) {
    close_gate();
    idle = idle_.wait_until(Clock::now() + kDrainSlice, [this] { return tally_.idle(); });
    if (idle) break;
    if (leave != nullptr && leave() != 0) {
      left_ = true;
      dropping_.store(true, std::memory_order_relaxed);
      leave = nullptr;
      patience = kLeavePatience;
    }
    const uint64_t now_finished = tally_.finished();
    const auto now = Clock::now();
    if (now_finished != finished) {
      finished = now_finished;
      progress = now;
    } else if (now - progress > patience) {
      break;
    }
    // An operation in flight may wait for a thread that must push first (one that completes
    // asynchronous operations).
    if (gate_.awaited()) {
      open_gate();
      std::this_thread::yield();
    }
  }
  watched_.fetch_and(~kWatchBoth, std::memory_order_seq_cst);
  // Else it is a later drain that ends it, and what is under way then.
  if (idle) dropping_.store(false, std::memory_order_relaxed);
  if (!idle) open_gate();
  try {
    if (idle) fences_.wait_all();
  } catch (const std::exception&) {  // the device is lost: whoever uses it next is told again
  }
  return idle;
}

void DependencyEngine::quiesce() MX_NO_THREAD_SAFETY_ANALYSIS {
  if (inside()) refuse_inside("quiesce");
  flush(this_thread());
  quiescing_.lock();
  drain_all(std::chrono::nanoseconds::max());
  placement_->join(cpu_workers_);
  lock_for_fork();
}

void DependencyEngine::resume(bool in_child) MX_NO_THREAD_SAFETY_ANALYSIS {
  unlock_after_fork();
  if (in_child) {
    cpu_workers_ = config_.mp_worker_nthreads;
    placement_->join(cpu_workers_);
  }
  open_gate();
  quiescing_.unlock();
}

// What another thread might hold at the moment of the fork although nothing is in flight.
void DependencyEngine::lock_for_fork() MX_NO_THREAD_SAFETY_ANALYSIS {
  turning_.lock();
  streams_mutex_.lock();
  failures_.lock_for_fork();
  fences_.lock_for_fork();
  lock_engines();
  Operation::lock_pools();
  BulkBody::lock_pool();
  Var::lock_pool();
}

void DependencyEngine::unlock_after_fork() MX_NO_THREAD_SAFETY_ANALYSIS {
  Var::unlock_pool();
  BulkBody::unlock_pool();
  Operation::unlock_pools();
  unlock_engines();
  fences_.unlock_after_fork();
  failures_.unlock_after_fork();
  streams_mutex_.unlock();
  turning_.unlock();
}

void DependencyEngine::shutdown() {
  shutdown_within(std::chrono::nanoseconds::max(), interrupt_check());
  MutexLock lock(quiescing_);
  if (std::exchange(left_, false)) throw_interrupted();
}

bool DependencyEngine::shutdown_within(std::chrono::nanoseconds patience, InterruptCheck leave) {
  // It has waited already for what the program left.
  if (dropping_.load(std::memory_order_relaxed)) patience = std::chrono::nanoseconds(0);
  if (inside()) return false;  // it would wait for itself
  flush(this_thread());
  MutexLock lock(quiescing_);
  if (!drain_all(patience, leave)) return false;
  placement_->join(cpu_workers_);
  // Relaxed: pushes look at it behind the gate, whose opening and passing are sequentially
  // consistent.
  at_once_.store(true, std::memory_order_relaxed);
  open_gate();
  return true;
}

void DependencyEngine::abandon_workers() { at_once_.store(true, std::memory_order_relaxed); }

}  // namespace mxnet::engine
