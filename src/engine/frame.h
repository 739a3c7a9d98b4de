// SPDX-License-Identifier: Apache-2.0
// What a thread knows about itself: which operation of which engine it is running, its number, its
// bulks.
#pragma once
#include <cstdint>

#include "engine/operation.h"

namespace mxnet {
class Stream;
}

namespace mxnet::engine {

struct BulkState;
class DependencyEngine;
class LeaveWatch;
class StreamSet;
class WorkerPool;
struct Frame;

// Trivially constructed and destroyed, so that it can be used at any time of the thread's life.
struct ThreadState {
  Frame* frame = nullptr;      // innermost
  BulkState* bulks = nullptr;  // of the engines for which this thread has bulks switched on
  uint32_t number = 0;         // from 1; 0 = not given yet
  uint32_t records = 0;        // pushed since it last looked how far ahead it is
};

// Of the initial-exec kind, as others that each small call reads: see storage/lane_set.h.
extern constinit thread_local ThreadState t_thread [[gnu::tls_model("initial-exec")]];
void number_thread(ThreadState& thread);

inline ThreadState& this_thread() {
  ThreadState& thread = t_thread;
  if (thread.number == 0) [[unlikely]]
    number_thread(thread);
  return thread;
}

// A thread that runs operations of `engine`: a worker for its whole life, a pusher, completer or
// waiter while it runs some. Lives on the stack; frames nest when an operation pushes another that
// runs at once.
struct Frame {
  // How deep frames may nest; operations that would go deeper are left to an outer one or a worker.
  static constexpr uint32_t kMaxDepth = 16;

  Frame(DependencyEngine& engine, WorkerPool* pool, StreamSet* streams)
      : engine(engine), pool(pool), streams(streams), thread(this_thread()), outer(thread.frame) {
    depth = outer != nullptr ? outer->depth + 1 : 0;
    thread.frame = this;
  }
  ~Frame() {
    thread.frame = outer;
    if (lent != nullptr) [[unlikely]]
      give_back();
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  bool may_nest() const { return depth < kMaxDepth; }

  DependencyEngine& engine;
  WorkerPool* const pool;     // whose work it takes: a worker's own, or that which a waiter helps
  StreamSet* const streams;   // null off the workers
  StreamSet* lent = nullptr;  // off the workers, from the first operation that needs one
  ThreadState& thread;
  Frame* const outer;
  uint32_t depth;
  bool takes_cheap = true;         // cheap operations that become ready may run here
  bool helps = false;              // a waiter: takes no other work than what only computes
  const OneShot* until = nullptr;  // a waiter's event, behind which it leaves work to others
  LeaveWatch* watch = nullptr;     // a waiter's, which may end the wait
  bool era = false;                // of the operation that runs, see Tally
  bool leaves_work = false;        // the operation that runs has called complete_by_event()
  Stream* stream = nullptr;        // of the operation that runs
  uint32_t ran = 0;     // operations run since the last turn to the queue or since the frame began
  uint32_t unrung = 0;  // turns to the queue since a look for those who wait for all
  OperationList local;  // ready, to be run by this frame before it ends

 private:
  void give_back() noexcept;
};

}  // namespace mxnet::engine
