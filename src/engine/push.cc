// SPDX-License-Identifier: Apache-2.0
// From push to the moment when an operation has its variables: checks, bounds, the gate, and the
// choice between running here at once and a record that waits.
#include "base/hooks.h"
#include "engine/dependency_engine.h"
#include "engine/prepared.h"

namespace mxnet::engine {
namespace {

// Pacing. A producer so many operations ahead gains nothing by being further ahead, but pushes the
// records of what runs next out of the caches (2 MB of records), which would cost producer and
// workers more than the pause does.
constexpr uint64_t kFarAhead = 4096;
constexpr uint32_t kPaceEvery = 512;  // pushes of a thread between two looks
// The pause is bounded, because work in flight may wait for this very thread.
constexpr int kPauses = 20;
constexpr auto kPause = std::chrono::microseconds(50);
// How long one that has as many records as it may have waits for any operation to end, and how
// often it looks: thousands are ready meanwhile, so no worker waits for it.
constexpr auto kPatience = std::chrono::milliseconds(200);
constexpr auto kLook = std::chrono::milliseconds(1);

}  // namespace

Frame* DependencyEngine::inside_frame(const ThreadState& thread) const {
  Frame* frame = thread.frame;
  while (frame != nullptr && &frame->engine != this) frame = frame->outer;
  return frame;
}

bool DependencyEngine::may_run_here(const OpSpec& spec, Role role) const {
  // Relaxed: a shutdown is noticed at the gate; before it either answer is right.
  if (at_once_.load(std::memory_order_relaxed)) return true;
  return spec.cheap && !spec.device.is_gpu() &&
         (role == Role::kErase || placement_->runs_cheap_on_pusher());
}

void DependencyEngine::reserve_memory(ThreadState& thread, std::size_t bytes) {
  if (bytes == 0 || run_ahead_.try_take(bytes)) return;
  if (inside_frame(thread) != nullptr) {
    run_ahead_.take_unbounded(bytes);
  } else {
    flush(thread);  // what is merged but not pushed must not be what we wait for
    run_ahead_.take(bytes);
  }
}

bool DependencyEngine::enter(ThreadState& thread) {
  const Frame* outer = inside_frame(thread);
  const bool era = outer != nullptr ? outer->era : tally_.era();
  tally_.start(thread.number, era);
  // Sequentially consistent: either the closer of the gate sees our count, or we see the gate
  // closed.
  if (gate_closed_.load(std::memory_order_seq_cst)) [[unlikely]]
    return wait_at_gate(thread, era);
  return era;
}

bool DependencyEngine::wait_at_gate(ThreadState& thread, bool era) {
  // What an operation pushes belongs to the work that is being drained.
  while (inside_frame(thread) == nullptr && gate_closed_.load(std::memory_order_seq_cst)) {
    leave(thread, era, 0);
    gate_.wait([this] { return !gate_closed_.load(std::memory_order_seq_cst); });
    era = tally_.era();
    tally_.start(thread.number, era);
  }
  return era;
}

void DependencyEngine::pace(Role role) {
  if (tally_.in_flight() < kFarAhead) return;
  for (int i = 0; i < kPauses && tally_.in_flight() > kFarAhead / 2; ++i)
    std::this_thread::sleep_for(kPause);
  // A bulk has taken over its operations: the program cannot end its wait.
  LeaveWatch watch(role == Role::kBulk ? nullptr : interrupt_check());
  uint64_t ended = tally_.finished();
  auto since = std::chrono::steady_clock::now();
  // Relaxed: with nobody left who would end operations, patience ends the wait.
  while (tally_.in_flight() > kMostAhead && !at_once_.load(std::memory_order_relaxed)) {
    std::this_thread::sleep_for(kLook);
    if (watch.leaves()) throw_interrupted();
    const auto now = std::chrono::steady_clock::now();
    if (const uint64_t more = tally_.finished(); more != ended) {
      ended = more;
      since = now;
    } else if (now - since > kPatience) {
      return;  // what is in flight may wait for this very thread
    }
  }
}

void DependencyEngine::leave(ThreadState& thread, bool era, std::size_t temp_bytes) {
  if (temp_bytes != 0) run_ahead_.give(temp_bytes);
  tally_.finish(thread.number, era);
}

// A pusher does not wait for a device, unless it waits for every operation.
bool DependencyEngine::waits_for_device(std::span<Var* const> reads,
                                        std::span<Var* const> writes) const {
  return (fences_.pending(reads) || fences_.pending(writes)) && !waits_for_work();
}

bool DependencyEngine::try_take(const OpSpec& spec) {
  std::size_t taken = 0, written = 0;
  const std::size_t reads = spec.reads.size(), writes = spec.writes.size();
  while (taken < reads && spec.reads[taken]->try_take(false)) ++taken;
  if (taken == reads)
    while (written < writes && spec.writes[written]->try_take(true)) ++written;
  // Asked only now: a worker may have left its work on a stream a moment ago.
  if (written == writes && taken == reads && !waits_for_device(spec.reads, spec.writes)) [[likely]]
    return true;
  give_back(spec, taken, written);
  return false;
}

// Another thread's operation may have queued behind what we took: it gets its turn.
[[gnu::noinline]] void DependencyEngine::give_back(const OpSpec& spec, std::size_t reads,
                                                   std::size_t writes) {
  Frame frame(*this, nullptr, nullptr);
  OperationList ready;
  while (writes-- > 0) spec.writes[writes]->release(true, ready);
  while (reads-- > 0) spec.reads[reads]->release(false, ready);
  while (Operation* operation = ready.pop()) place(operation, frame);
  drain(frame);
}

inline bool DependencyEngine::fits_here(const ThreadState& thread, const OpSpec& spec,
                                        Role role) const {
  if (!may_run_here(spec, role)) return false;
  // Lists that are still to be checked are short.
  if (role != Role::kPrepared && spec.reads.size() + spec.writes.size() > kInlineVars) return false;
  const Frame* outer = inside_frame(thread);
  return outer == nullptr || outer->may_nest();
}

// REQUIRES: fits_here(), and no variable is listed twice.
bool DependencyEngine::try_run_here(ThreadState& thread, SyncFn& fn, const OpSpec& spec, Role role,
                                    BulkBody* bulk) {
  if (role != Role::kBulk) reserve_memory(thread, spec.temp_bytes);
  const bool era = enter(thread);
  const bool taken = try_take(spec);
  if (taken) {
    Frame frame(*this, nullptr, nullptr);
    frame.era = era;
    if ((role == Role::kUser || role == Role::kPrepared) && !spec.device.is_gpu() && quiet())
        [[likely]]
      run_quietly(fn, spec, role, frame);
    else
      run_here(fn, spec, role, bulk, frame);
    leave(thread, era, spec.temp_bytes);
    if (!frame.local.empty()) drain(frame);
  } else {
    leave(thread, era, role != Role::kBulk ? spec.temp_bytes : 0);
  }
  if (watched()) ring_if_idle();
  return taken;
}

void DependencyEngine::push_sync(ThreadState& thread, SyncFn& fn, const OpSpec& spec, Role role,
                                 BulkBody* bulk) {
  if (fits_here(thread, spec, role)) {
    if (role == Role::kUser) check_few(spec);
    if (try_run_here(thread, fn, spec, role, bulk)) return;
  }
  Operation* operation = Operation::make();
  operation->role = role;
  operation->bulk = bulk;
  operation->body.emplace<SyncFn>(std::move(fn));
  push_record(thread, operation, spec);
}

void DependencyEngine::push_record(ThreadState& thread, Operation* operation, const OpSpec& spec) {
  // Workers have written them last; the locks would fetch them one after the other.
  for (const Var* var : spec.reads) var->prefetch();
  for (const Var* var : spec.writes) var->prefetch();
  FewAccesses few;
  const Access* order;
  try {
    order = operation->prepared != nullptr ? operation->prepared->order.data()
                                           : operation->copy_lists(spec, few);
    // What ends a variable is pushed by destructors, which go on at once and do not throw.
    if (++thread.records >= kPaceEvery && operation->role != Role::kErase &&
        inside_frame(thread) == nullptr) {
      thread.records = 0;
      pace(operation->role);
    }
    if (operation->role != Role::kBulk)
      reserve_memory(thread, spec.temp_bytes);  // a bulk has reserved
  } catch (...) {
    operation->recycle();
    throw;
  }
  operation->priority = spec.priority;
  operation->property = spec.property;
  operation->device = spec.device;
  operation->name = spec.name;
  operation->temp_bytes = spec.temp_bytes;
  operation->fresh = spec.fresh;
  operation->computes = spec.computes && !spec.device.is_gpu() && !operation->asynchronous();
  operation->era = enter(thread);
  try {
    // Relaxed: a change is made behind the closed gate, which we have passed.
    const bool at_once = at_once_.load(std::memory_order_relaxed);
    operation->pool = at_once ? nullptr : placement_->pool_for(spec.device, spec.property);
  } catch (...) {
    leave(thread, operation->era, spec.temp_bytes);
    operation->recycle();
    throw;
  }
  operation->cheap = !operation->asynchronous() && may_run_here(spec, operation->role);
  if (operation->pool == nullptr && inside_frame(thread) == nullptr) {
    run_and_wait(operation, order);
  } else if (take_or_queue(operation, order)) {
    start(thread, operation);
  }
  if (watched()) ring_if_idle();
}

bool DependencyEngine::take_or_queue(Operation* operation, const Access* order) {
  const uint32_t count = operation->count;
  // One more than the accesses: it cannot become ready while we are still queueing. Relaxed: others
  // learn of the operation from the queue of a variable, whose unlocking releases.
  operation->missing.store(count + 1, std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) access_var(order[i])->lock();
  uint32_t granted = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const bool write = access_writes(order[i]);
    granted += access_var(order[i])->take_or_queue(write, &operation->links[i], operation);
  }
  if (granted == count) return true;  // in no queue: nobody else knows it
  // Acquire-release: see grant.
  return operation->missing.fetch_sub(granted + 1, std::memory_order_acq_rel) == granted + 1;
}

void DependencyEngine::start(ThreadState& thread, Operation* operation) {
  // Asked with the variables taken, as in try_take.
  const bool here =
      operation->pool == nullptr ||
      (operation->cheap && !waits_for_device(operation->read_vars(), operation->write_vars()));
  if (!here) return operation->pool->submit(operation);
  Frame* outer = inside_frame(thread);
  if (outer == nullptr || outer->may_nest()) {
    Frame frame(*this, nullptr, nullptr);
    run(operation, frame);
    drain(frame);
  } else if (operation->pool != nullptr) {
    operation->pool->submit(operation);
  } else {
    outer->local.push(operation);
  }
}

void DependencyEngine::run_and_wait(Operation* operation, const Access* order) {
  const Role role = operation->role;
  OneShot granted, done;
  operation->role = Role::kHandOver;
  operation->waiter = &granted;
  if (!take_or_queue(operation, order)) granted.wait();
  operation->role = role;
  const bool asynchronous = operation->asynchronous();
  operation->waiter = asynchronous ? &done : nullptr;
  Frame frame(*this, nullptr, nullptr);
  run(operation, frame);
  drain(frame);
  if (asynchronous) done.wait();
}

void DependencyEngine::push(SyncFn fn, const OpSpec& spec) {
  ThreadState& thread = this_thread();
  if (thread.bulks != nullptr && add_to_bulk(thread, fn, spec, false)) return;
  push_sync(thread, fn, spec, Role::kUser, nullptr);
}

bool DependencyEngine::run_if_free(SyncFn& fn, const OpSpec& spec) {
  ThreadState& thread = this_thread();
  return thread.bulks == nullptr && fits_here(thread, spec, Role::kUser) &&
         try_run_here(thread, fn, spec, Role::kUser, nullptr);
}

void DependencyEngine::push_async(AsyncFn fn, const OpSpec& spec) {
  ThreadState& thread = this_thread();
  flush(thread);
  Operation* operation = Operation::make();
  operation->role = Role::kUser;
  operation->body.emplace<AsyncFn>(std::move(fn));
  push_record(thread, operation, spec);
}

void DependencyEngine::delete_variable(Var* var, Device device, SyncFn then) {
  ThreadState& thread = this_thread();
  if (!then) device = Device::cpu();  // nothing to run: no reason to visit a GPU's worker
  const OpSpec spec{.device = device,
                    .reads = {},
                    .writes = {&var, 1},
                    .property = FnProperty::kDeleteVar,
                    .name = "delete_variable",
                    .cheap = !device.is_gpu()};
  if (thread.bulks != nullptr && add_to_bulk(thread, then, spec, true)) return;
  push_sync(thread, then, spec, Role::kErase, nullptr);
}

// What the variable's last users have left (failures, work on streams) is seen once it is idle, and
// takes the ordinary way; so does what an observer or a log would show.
bool DependencyEngine::delete_if_free(Var* var) noexcept {
  if (this_thread().bulks != nullptr || !var->idle() || failures_.any() ||
      var->fences() != nullptr || observer() != nullptr || info_.get())
    return false;
  var->recycle();
  return true;
}

PreparedRef DependencyEngine::prepare(SyncFn fn, const OpSpec& spec) {
  return std::make_shared<const PreparedOperation>(std::move(fn), spec);
}

PreparedRef DependencyEngine::prepare_async(AsyncFn fn, const OpSpec& spec) {
  return std::make_shared<const PreparedOperation>(std::move(fn), spec);
}

void DependencyEngine::push(const PreparedRef& prepared) {
  ThreadState& thread = this_thread();
  flush(thread);
  const OpSpec& spec = prepared->spec;
  auto* sync = std::get_if<SyncFn>(&prepared->body);
  if (sync != nullptr && fits_here(thread, spec, Role::kPrepared) &&
      try_run_here(thread, *sync, spec, Role::kPrepared, nullptr))
    return;
  Operation* operation = Operation::make();
  operation->role = Role::kPrepared;
  operation->share_lists(prepared);
  push_record(thread, operation, spec);
}

}  // namespace mxnet::engine
