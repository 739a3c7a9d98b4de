// SPDX-License-Identifier: Apache-2.0
// The engine behind all three names: it orders operations by their variables, runs or places those
// that are ready, and carries their failures. Naive, Threaded and PerDevice differ only in their
// Placement.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "base/config.h"
#include "base/hooks.h"
#include "base/lock.h"
#include "base/memory_relief.h"
#include "engine/bulk.h"
#include "engine/engine.h"
#include "engine/failures.h"
#include "engine/fences.h"
#include "engine/frame.h"
#include "engine/interrupt.h"
#include "engine/operation.h"
#include "engine/placement.h"
#include "engine/run_ahead.h"
#include "engine/tally.h"
#include "engine/var.h"
#include "engine/waiting.h"

namespace mxnet::engine {

// Thread-safe as Engine says. The path of an operation:
//   push -> enter (run-ahead, tally, gate) -> take its variables
//        -> run here | WorkerPool | queue of a variable
//   run  -> execute (skip if an input failed)
//        -> settle (release variables, place what became ready) -> leave
//
// Invariants:
//   1. An operation is counted in the tally from before it touches a variable until after its
//      record is recycled. With the gate closed and the tally idle, no thread is inside a variable
//      or record of this engine; one may still be about to wake a worker.
//   2. Failures of an operation are recorded before its variables are released.
//   3. No lock is held while a function of a user runs.
class DependencyEngine final : public Engine {
 public:
  // `info` is the live row behind MXNET_ENGINE_INFO; null = the value in `config`.
  explicit DependencyEngine(const EngineConfig& config, const Live<bool>* info = nullptr);
  ~DependencyEngine() override;

  Var* new_variable() override { return Var::make(); }
  Var* new_order_variable() override {
    Var* var = Var::make();
    var->order_only = true;
    return var;
  }
  void delete_variable(Var* var, Device device, SyncFn then) override;
  uint64_t version(const Var* var) const override { return var->version(); }
  // See engine/here.h.
  bool delete_if_free(Var* var) noexcept;
  bool run_if_free(SyncFn& fn, const OpSpec& spec);
  std::exception_ptr failure_of(Var* var) { return failures_.carried(var); }

  void push(SyncFn fn, const OpSpec& spec) override;
  void push_async(AsyncFn fn, const OpSpec& spec) override;
  PreparedRef prepare(SyncFn fn, const OpSpec& spec) override;
  PreparedRef prepare_async(AsyncFn fn, const OpSpec& spec) override;
  void push(const PreparedRef& operation) override;

  void forget_failure(Var* var) override { failures_.forget({&var, 1}); }
  void wait_for_var(Var* var) override;
  void wait_to_read(Var* var) override;
  void wait_for_all() override;

  int set_bulk_size(int size) override;
  int bulk_size() const override;
  void flush_bulk() override;

  void quiesce() override;
  void resume(bool in_child) override;
  void shutdown() override;

  // As shutdown, but gives up when nothing finishes for `patience`; false if so (operations go on
  // running).
  bool shutdown_within(std::chrono::nanoseconds patience, InterruptCheck leave = nullptr);
  // Whether this thread is inside an operation of this engine.
  bool inside() const { return inside_frame(t_thread) != nullptr; }
  // For a child that was forked inside an operation: its workers are gone, so new operations run at
  // once.
  void abandon_workers();

  // Lets memory of `device` go that is on its way back, and waits for more, for a while.
  void relieve(Device device, MemoryRetry retry, void* request);

  // For Frame.
  void take_back(StreamSet* streams) noexcept;

  // For WorkerPool.
  void run_from_queue(Operation* operation, Frame& frame);
  void worker_idles(Frame& frame);

 private:
  struct Call;  // what execute needs to know, from a spec or from a record

  // Whether an operation on the CPU only has to be called: nothing has failed, no work lies on
  // streams, and nobody observes. Asked with its variables taken.
  bool quiet() const {
    return !failures_.any() && !fences_.any() && observer() == nullptr && !info_.get();
  }

  // push.cc
  bool fits_here(const ThreadState& thread, const OpSpec& spec, Role role) const;
  bool try_run_here(ThreadState& thread, SyncFn& fn, const OpSpec& spec, Role role, BulkBody* bulk);
  void push_sync(ThreadState& thread, SyncFn& fn, const OpSpec& spec, Role role, BulkBody* bulk);
  void push_record(ThreadState& thread, Operation* operation, const OpSpec& spec);
  void reserve_memory(ThreadState& thread, std::size_t bytes);
  bool enter(ThreadState& thread);
  void pace(Role role);
  bool wait_at_gate(ThreadState& thread, bool era);
  void leave(ThreadState& thread, bool era, std::size_t temp_bytes);
  bool waits_for_device(std::span<Var* const> reads, std::span<Var* const> writes) const;
  bool may_run_here(const OpSpec& spec, Role role) const;
  bool try_take(const OpSpec& spec);
  void give_back(const OpSpec& spec, std::size_t reads, std::size_t writes);
  bool take_or_queue(Operation* operation, const Access* order);
  void start(ThreadState& thread, Operation* operation);
  void run_and_wait(Operation* operation, const Access* order);
  Frame* inside_frame(const ThreadState& thread) const;

  // run.cc
  template <class Function>
  void execute(const Call& call, Function&& function);
  template <class Function>
  void observed(const char* name, Device device, Function&& function);
  void call_sync(const Call& call, SyncFn& fn, Frame& frame);
  void call_on(const RunContext& context, SyncFn& fn, Frame& frame);
  bool waits_for_work() const;
  void run(Operation* operation, Frame& frame);
  void run_here(SyncFn& fn, const OpSpec& spec, Role role, BulkBody* bulk, Frame& frame);
  void run_quietly(SyncFn& fn, const OpSpec& spec, Role role, Frame& frame);
  void run_bulk(BulkBody& bulk, Frame& frame);
  void settle(std::span<Var* const> reads, std::span<Var* const> writes, Role role, BulkBody* bulk,
              Frame& frame);
  void finish(Operation* operation, ThreadState& thread);
  void place(Operation* operation, Frame& frame);
  void drain(Frame& frame);
  Stream* stream_of(Device device, Frame& frame);
  StreamSet* lend_streams();
  bool watched() const;

  // run_async.cc
  void start_async(Operation* operation, Frame& frame);
  void complete_async(Operation* operation, std::exception_ptr error);
  void drop_async(Operation* operation, ThreadState& thread);
  static void async_done(void* operation, std::exception_ptr error);

  // relief.cc
  void run_releases(const Workers& workers, Device device, Frame& frame);

  // wait.cc
  void wait_for(Var* var, bool write);
  template <class Done>
  bool help_until(Done done, const OneShot* event, InterruptCheck leave);
  void wait_for_era(bool era);
  bool drain_all(std::chrono::nanoseconds patience, InterruptCheck leave = nullptr)
      MX_REQUIRES(quiescing_);
  void close_gate();
  void open_gate();
  void ring_if_idle();
  void lock_for_fork();
  void unlock_after_fork();

  // bulk.cc
  BulkState* bulk_state(const ThreadState& thread) const;
  bool add_to_bulk(ThreadState& thread, SyncFn& fn, const OpSpec& spec, bool erase);
  void flush(ThreadState& thread);

  const EngineConfig config_;
  const uint64_t id_;  // distinguishes engines that lie at the same address one after the other
  const Live<bool>& info_;
  const std::unique_ptr<Placement> placement_;
  // Naive, or shut down: operations run on the pusher's thread, which waits for them.
  std::atomic<bool> at_once_;
  int cpu_workers_;  // for Placement::join; changed in a forked child only
  std::atomic<bool> gate_closed_{false};
  // What has not begun fails instead of running: the program has ended the drain of its end.
  std::atomic<bool> dropping_{false};
  std::atomic<uint64_t> sequence_{0};  // of observed executions

  Tally tally_;
  RunAhead run_ahead_;
  Failures failures_;
  Fences fences_;
  Bell idle_;                         // what `watched_` names has become idle
  std::atomic<uint32_t> watched_{0};  // kEra << era, kBoth: what sleepers at `idle_` wait for
  Bell gate_;                         // the gate has opened
  Mutex turning_;                     // one wait_for_all turns the era at a time
  Mutex quiescing_;                   // held from quiesce to resume
  bool left_ MX_GUARDED_BY(quiescing_) = false;  // the drain at hand was ended by the program
  Mutex streams_mutex_;
  // Of threads that run their own operations: lent to a frame until it ends, since it may record a
  // graph, of which others' work is no part; so there are as many as are in use at once.
  std::vector<std::unique_ptr<StreamSet>> caller_streams_ MX_GUARDED_BY(streams_mutex_);
  std::vector<StreamSet*> idle_streams_ MX_GUARDED_BY(streams_mutex_);  // has room for all
};

}  // namespace mxnet::engine
