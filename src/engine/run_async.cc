// SPDX-License-Identifier: Apache-2.0
// Operations whose function returns before their work is done: a completion, which any thread may
// call at any time, releases their variables.
#include <fmt/format.h>

#include "base/hooks.h"
#include "base/log.h"
#include "engine/dependency_engine.h"

namespace mxnet::engine {

void DependencyEngine::start_async(Operation* operation, Frame& frame) {
  operation->engine = this;
  // Relaxed: nobody else has the operation yet; the completion learns of it from the function.
  operation->references.store(2, std::memory_order_relaxed);
  operation->completed.store(false, std::memory_order_relaxed);
  failures_.forget(operation->fresh_vars());
  const bool skip = failures_.any() && operation->property != FnProperty::kNoSkip &&
                    failures_.find(operation->read_vars(), operation->write_vars()) != nullptr;
  if (skip) {
    complete_async(operation, nullptr);
  } else {
    AsyncFn& fn = std::get<AsyncFn>(operation->function());
    if (Observer* watcher = observer()) {
      operation->sequence = sequence_.fetch_add(1, std::memory_order_relaxed);
      operation->observed = true;
      watcher->async_begin(operation->name, operation->device, operation->sequence);
    }
    if (info_.get()) {
      log(LogLevel::kInfo, fmt::format("engine: asynchronous operation {} on {}",
                                       operation->name != nullptr ? operation->name : "(unnamed)",
                                       to_string(operation->device)));
    }
    std::exception_ptr error;
    try {
      if (dropping_.load(std::memory_order_relaxed)) throw_interrupted();  // as in execute
      const RunContext context{operation->device, stream_of(operation->device, frame)};
      fences_.order_behind(operation->read_vars(), operation->write_vars(), context.stream);
      fn(context, OnComplete(&async_done, operation));
    } catch (...) {
      error = std::current_exception();
    }
    if (error != nullptr) complete_async(operation, std::move(error));
  }
  drop_async(operation, frame.thread);
}

void DependencyEngine::async_done(void* state, std::exception_ptr error) {
  auto* operation = static_cast<Operation*>(state);
  operation->engine->complete_async(operation, std::move(error));
}

void DependencyEngine::complete_async(Operation* operation, std::exception_ptr error) {
  // Acquire-release: of two completions, which would be a bug of the function, the later one stops
  // here.
  if (operation->completed.exchange(true, std::memory_order_acq_rel)) {
    log(LogLevel::kError, fmt::format("operation {} completed twice",
                                      operation->name != nullptr ? operation->name : "(unnamed)"));
    return;
  }
  const auto reads = operation->read_vars(), writes = operation->write_vars();
  if (operation->observed) {
    operation->observed = false;
    if (Observer* watcher = observer()) {
      watcher->async_end(operation->name, operation->device, operation->sequence);
    }
  }
  if (const FailureRef inherited = failures_.any() ? failures_.find(reads, writes) : nullptr) {
    failures_.spread(inherited, writes);
  } else if (error != nullptr) {
    failures_.record(name_error(std::move(error), operation->name), writes);
  }
  for (Var* var : writes) var->bump_version();

  ThreadState& thread = this_thread();
  Frame* const outer = inside_frame(thread);
  if (outer != nullptr && !outer->may_nest()) {
    settle(reads, writes, operation->role, nullptr, *outer);
    return drop_async(operation, thread);
  }
  // Whoever completes (a network thread, a driver's callback) is not to be kept with work of
  // others.
  Frame frame(*this, nullptr, nullptr);
  frame.takes_cheap = false;
  settle(reads, writes, operation->role, nullptr, frame);
  drop_async(operation, thread);
  drain(frame);
}

void DependencyEngine::drop_async(Operation* operation, ThreadState& thread) {
  // Acquire-release: the last one sees what the other did with the record.
  if (operation->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  finish(operation, thread);
  if (watched()) ring_if_idle();
}

}  // namespace mxnet::engine
