// SPDX-License-Identifier: Apache-2.0
// From the moment when an operation has its variables to their release: running, failing, and
// placing what became ready. What completes later is in run_async.cc.
#include <fmt/format.h>

#include "base/hooks.h"
#include "base/log.h"
#include "engine/dependency_engine.h"
#include "engine/interrupt.h"
#include "engine/prepared.h"

namespace mxnet::engine {
namespace {

// A worker goes back to its queue after so many operations that it ran straight after the one that
// made them ready: a chain must not starve what waits in the queue.
constexpr uint32_t kMaxStreak = 64;
// A pusher runs at most so many operations of others that its own made ready: the rest goes to
// workers.
constexpr uint32_t kMaxOfOthers = 16;
// How often a worker without pause looks whether somebody waits for all.
constexpr uint32_t kRingEvery = 64;

}  // namespace

// What execute needs to know, from a spec or from a record.
struct DependencyEngine::Call {
  const char* name;
  Device device;
  FnProperty property;
  std::span<Var*const> reads, writes;
  std::span<Var* const> fresh = {};   // of the writes, see OpSpec
  std::span<Var* const> erased = {};  // ordered like writes, but failures stay away from it
};

bool DependencyEngine::watched() const { return idle_.awaited(); }

Stream* DependencyEngine::stream_of(Device device, Frame& frame) {
  if (!device.is_gpu()) return nullptr;
  if (frame.streams != nullptr) return frame.streams->get(device);
  if (frame.lent == nullptr) frame.lent = lend_streams();
  return frame.lent->get(device);
}

StreamSet* DependencyEngine::lend_streams() {
  MutexLock lock(streams_mutex_);
  if (idle_streams_.empty()) {
    caller_streams_.push_back(std::make_unique<StreamSet>());
    idle_streams_.reserve(caller_streams_.size());
    return caller_streams_.back().get();
  }
  StreamSet* const streams = idle_streams_.back();
  idle_streams_.pop_back();
  return streams;
}

void DependencyEngine::take_back(StreamSet* streams) noexcept {
  MutexLock lock(streams_mutex_);
  idle_streams_.push_back(streams);
}

void Frame::give_back() noexcept { engine.take_back(lent); }

// Calls `function` between the observer's begin and end.
template <class Function>
void DependencyEngine::observed(const char* name, Device device, Function&& function) {
  Observer* const watcher = observer();
  if (watcher == nullptr && !info_.get()) [[likely]]
    return function();
  // Relaxed: only uniqueness matters.
  const uint64_t sequence = sequence_.fetch_add(1, std::memory_order_relaxed);
  if (info_.get()) {
    log(LogLevel::kInfo, fmt::format("engine: operation {} {} on {}", sequence,
                                     name != nullptr ? name : "(unnamed)", to_string(device)));
  }
  if (watcher != nullptr) watcher->operation_begin(name, device, sequence);
  function();
  if (watcher != nullptr) watcher->operation_end(name, device, sequence);
}

// Runs `function` unless an input has failed, and records what it throws; in any case the writes
// count as done.
template <class Function>
void DependencyEngine::execute(const Call& call, Function&& function) {
  FailureRef inherited;
  if (failures_.any()) [[unlikely]] {
    failures_.forget(call.fresh);
    inherited = failures_.find(call.reads, call.writes);
  }
  if (inherited == nullptr || call.property == FnProperty::kNoSkip) {
    observed(call.name, call.device, [&] {
      try {
        // Relaxed: a moment sooner or later is all the same.
        if (dropping_.load(std::memory_order_relaxed)) [[unlikely]]
          throw_interrupted();
        function();
      } catch (...) {
        if (inherited == nullptr) {
          failures_.record(name_error(std::current_exception(), call.name), call.writes);
        }
      }
    });
  }
  if (inherited != nullptr) [[unlikely]]
    failures_.spread(inherited, call.writes);
  for (Var* var : call.writes) var->bump_version();
}

void DependencyEngine::call_sync(const Call& call, SyncFn& fn, Frame& frame) {
  execute(call, [&] {
    if (!fn) return;
    const RunContext context{call.device, stream_of(call.device, frame)};
    const auto writes = call.erased.empty() ? call.writes : call.erased;
    fences_.order_behind(call.reads, writes, context.stream);
    call_on(context, fn, frame);
    if (context.stream == nullptr) return fences_.clear(writes);
    if (frame.leaves_work && !waits_for_work())
      return fences_.leave(call.reads, writes, *context.stream);
    context.stream->synchronize();
    fences_.clear(writes);
  });
}

// Whether work on streams is waited for in any case: where operations are to run at once, and for
// observers, whose times are those of the work.
bool DependencyEngine::waits_for_work() const {
  // Relaxed: either answer is right around a shutdown.
  return at_once_.load(std::memory_order_relaxed) || observer() != nullptr;
}

// Calls `fn`; what it has left on the stream is done if it throws.
void DependencyEngine::call_on(const RunContext& context, SyncFn& fn, Frame& frame) {
  frame.leaves_work = false;
  frame.stream = context.stream;
  try {
    fn(context);
  } catch (...) {
    frame.stream = nullptr;
    try {
      if (context.stream != nullptr) context.stream->synchronize();
    } catch (const std::exception&) {  // the first error is the one to tell
    }
    throw;
  }
  frame.stream = nullptr;
}

void DependencyEngine::run_here(SyncFn& fn, const OpSpec& spec, Role role, BulkBody* bulk,
                                Frame& frame) {
  if (role == Role::kBulk) {
    run_bulk(*bulk, frame);
  } else if (role == Role::kErase) {
    // Runs whatever has failed. Without a function there is nothing to run or to observe.
    if (fn) call_sync({spec.name, spec.device, spec.property, {}, {}, {}, spec.writes}, fn, frame);
  } else {
    call_sync({spec.name, spec.device, spec.property, spec.reads, spec.writes,
               spec.writes.first(spec.fresh)},
              fn, frame);
  }
  // The function goes before the variables: who waits for them finds what it held released.
  if (role != Role::kPrepared) fn.reset();
  settle(spec.reads, spec.writes, role, bulk, frame);
}

// run_here() where it has nothing to ask: REQUIRES: quiet(), and an operation on the CPU.
void DependencyEngine::run_quietly(SyncFn& fn, const OpSpec& spec, Role role, Frame& frame) {
  try {
    if (fn) fn({spec.device, nullptr});
  } catch (...) {
    failures_.record(name_error(std::current_exception(), spec.name), spec.writes);
  }
  for (Var* var : spec.writes) var->bump_version();
  if (role != Role::kPrepared) fn.reset();  // before the variables, as above
  OperationList ready;
  for (Var* var : spec.reads) var->release(false, ready);
  for (Var* var : spec.writes) var->release(true, ready);
  while (Operation* operation = ready.pop()) place(operation, frame);
}

void DependencyEngine::run_bulk(BulkBody& bulk, Frame& frame) {
  const Span span(SpanKind::kSegment, "bulk");
  Stream* stream = nullptr;
  bool leaves_work = !waits_for_work();
  for (BulkItem& item : bulk.items) {
    if (item.erase && !item.fn) continue;
    const auto reads = bulk.reads_of(item), writes = bulk.writes_of(item);
    Call call{item.name, item.device, item.property, reads, writes, writes.first(item.fresh)};
    if (item.erase) call.reads = call.writes = {};
    execute(call, [&] {
      if (!item.fn) return;
      stream = stream_of(item.device, frame);
      fences_.order_behind(reads, writes, stream);
      call_on({item.device, stream}, item.fn, frame);
      leaves_work &= frame.leaves_work;
    });
    item.fn.reset();
  }
  try {
    if (stream != nullptr && leaves_work) return fences_.leave(bulk.reads, bulk.writes, *stream);
    if (stream != nullptr) stream->synchronize();
    fences_.clear(bulk.writes);
  } catch (...) {
    failures_.record(name_error(std::current_exception(), "bulk"), bulk.writes);
  }
}

void DependencyEngine::run(Operation* operation, Frame& frame) {
  frame.era = operation->era;
  if (operation->asynchronous()) return start_async(operation, frame);
  SyncFn& fn = std::get<SyncFn>(operation->function());
  const OpSpec spec{.device = operation->device,
                    .reads = operation->read_vars(),
                    .writes = operation->write_vars(),
                    .property = operation->property,
                    .name = operation->name,
                    .fresh = operation->fresh};
  run_here(fn, spec, operation->role, operation->bulk, frame);
  finish(operation, frame.thread);
}

// After settle: returns the record, leaves the count, and wakes who waits for this operation.
void DependencyEngine::finish(Operation* operation, ThreadState& thread) {
  OneShot* const waiter = operation->waiter;
  const bool era = operation->era;
  const std::size_t bytes = operation->temp_bytes;
  operation->recycle();
  leave(thread, era, bytes);
  if (waiter != nullptr) waiter->ring();
}

void DependencyEngine::settle(std::span<Var* const> reads, std::span<Var* const> writes, Role role,
                              BulkBody* bulk, Frame& frame) {
  if (role == Role::kErase) {
    failures_.forget(writes);
  } else if (bulk != nullptr) {
    bulk->for_each_erased([this](Var* var) { failures_.forget({&var, 1}); });
  }
  OperationList ready;
  for (Var* var : reads) var->release(false, ready);
  for (Var* var : writes) var->release(true, ready);
  if (role == Role::kErase) {
    writes[0]->recycle();
  } else if (bulk != nullptr) {
    bulk->for_each_erased([](Var* var) { var->recycle(); });
    bulk->recycle();
  }
  while (Operation* operation = ready.pop()) place(operation, frame);
}

void DependencyEngine::place(Operation* operation, Frame& frame) {
  if (operation->role == Role::kHandOver) return operation->waiter->ring();
  if (operation->role == Role::kNotify) {
    // Nests only as deep as threads wait for one variable.
    settle(operation->read_vars(), operation->write_vars(), Role::kNotify, nullptr, frame);
    return finish(operation, frame.thread);
  }
  WorkerPool* const pool = operation->pool;
  const bool on_worker = frame.pool != nullptr && !frame.helps;
  const bool local =
      pool == nullptr ||
      (operation->cheap && frame.takes_cheap && (on_worker || frame.ran < kMaxOfOthers) &&
       !waits_for_device(operation->read_vars(), operation->write_vars())) ||
      // The next one of this worker's own kind stays here, if nothing more urgent waits.
      (pool == frame.pool && frame.local.empty() && frame.ran < kMaxStreak &&
       operation->priority >= 0 && !pool->urgent() && (operation->computes || !frame.helps));
  if (local) {
    frame.local.push(operation);
  } else {
    pool->submit(operation);
  }
}

namespace {

// Whether a waiter has no reason to run what may as well run elsewhere: what it waits for has come,
// or the program has ended the wait.
bool hands_over(const Frame& frame) {
  return (frame.until != nullptr && frame.until->rung()) ||
         (frame.watch != nullptr && frame.watch->leaves());
}

}  // namespace

void DependencyEngine::drain(Frame& frame) {
  while (Operation* operation = frame.local.pop()) {
    if (operation->pool != nullptr && hands_over(frame)) {
      operation->pool->submit(operation);
      continue;
    }
    ++frame.ran;
    run(operation, frame);
  }
}

void DependencyEngine::run_from_queue(Operation* operation, Frame& frame) {
  frame.ran = 0;
  run(operation, frame);
  drain(frame);
  if (watched() && ++frame.unrung >= kRingEvery) worker_idles(frame);
}

void DependencyEngine::worker_idles(Frame& frame) {
  frame.unrung = 0;
  if (watched()) ring_if_idle();
}

}  // namespace mxnet::engine
