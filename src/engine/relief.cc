// SPDX-License-Identifier: Apache-2.0
// What the engine does for a request that finds no memory: releases that can run now run on the
// asking thread, and those behind operations that others run get a moment. See
// base/memory_relief.h.
#include <algorithm>

#include "engine/dependency_engine.h"

namespace mxnet::engine {
namespace {

using Clock = std::chrono::steady_clock;

// What runs may hold memory, but it may also wait for the asking thread, or run for long: the wait
// is bounded.
constexpr auto kMostWait = std::chrono::seconds(1);
// A worker may be about to take what would run next: none runs for so long, and the wait is over.
constexpr auto kGrace = std::chrono::milliseconds(20);
constexpr auto kLook = std::chrono::microseconds(100);

bool releases(const Operation& operation, Device device) {
  return operation.role == Role::kErase && operation.device == device;
}

void take_releases(OperationList& from, Device device, OperationList& to) {
  OperationList others;
  while (Operation* operation = from.pop())
    (releases(*operation, device) ? to : others).push(operation);
  from = others;
}

// Of the order of what is ready nothing depends: what is taken in vain goes behind the rest.
void take_releases(WorkerPool& pool, Device device, OperationList& to) {
  OperationList others;
  for (uint64_t i = 0; i < kMostAhead; ++i) {
    Operation* const operation = pool.take();
    if (operation == nullptr) break;
    (releases(*operation, device) ? to : others).push(operation);
  }
  while (Operation* operation = others.pop()) pool.submit(operation);
}

}  // namespace

// On the host they run where they become ready: nothing to take. On streams of their own, since
// what runs here may be recording its stream.
void DependencyEngine::run_releases(const Workers& workers, Device device, Frame& frame) {
  if (!device.is_gpu()) return;
  try {
    static_cast<void>(stream_of(device, frame));
  } catch (const std::exception&) {  // no stream, nothing to run on: they wait for a worker
    return;
  }
  OperationList ready;
  for (Frame* outer = frame.outer; outer != nullptr; outer = outer->outer)
    if (&outer->engine == this) take_releases(outer->local, device, ready);
  for (WorkerPool* pool : workers)
    if (pool != nullptr) take_releases(*pool, device, ready);
  while (Operation* operation = ready.pop()) run(operation, frame);
  drain(frame);
}

void DependencyEngine::relieve(Device device, MemoryRetry retry, void* request) {
  ThreadState& thread = this_thread();
  if (inside_frame(thread) == nullptr) flush(thread);  // it may hold releases
  uint64_t own = 0;                                    // operations that this thread is inside of
  WorkerPool* pauses = nullptr;
  for (const Frame* outer = thread.frame; outer != nullptr; outer = outer->outer) {
    if (&outer->engine != this) continue;
    ++own;
    if (outer->pool != nullptr && !outer->helps) pauses = outer->pool;
  }
  const Workers workers = placement_->workers_of(device);
  Frame frame(*this, nullptr, nullptr);
  // Before the try: what ends after it shows.
  uint64_t finished = tally_.finished();
  run_releases(workers, device, frame);
  if (retry(request)) return;
  const WorkerPool::Pause pause(pauses);
  const auto runs = [](const WorkerPool* pool) { return pool != nullptr && pool->runs(); };
  const Clock::time_point begin = Clock::now();
  for (Clock::time_point now = begin, busy = begin;
       now - begin < kMostWait && now - busy < kGrace && tally_.in_flight() > own;
       now = Clock::now()) {
    std::this_thread::sleep_for(kLook);
    if (std::ranges::any_of(workers, runs)) busy = Clock::now();
    const uint64_t now_finished = tally_.finished();
    if (now_finished == finished) continue;
    finished = now_finished;
    run_releases(workers, device, frame);
    if (retry(request)) return;
  }
}

}  // namespace mxnet::engine
