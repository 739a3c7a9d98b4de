// SPDX-License-Identifier: Apache-2.0
// The dependency engine: operations declare what they read and write and run when that is safe.
// Three policies behind one interface: Naive (caller's thread, at once), Threaded (one pool),
// PerDevice (workers per device, and cheap ready CPU operations on the caller's own thread).
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "base/config_sections.h"
#include "base/device.h"
#include "base/inline_function.h"
#include "device/stream.h"

namespace mxnet {

// Numbers of the C ABI.
enum class FnProperty : int32_t {
  kNormal = 0,
  kCopyFromGPU = 1,
  kCopyToGPU = 2,
  kCPUPrioritized = 3,
  kAsync = 4,
  kDeleteVar = 5,
  kGPUPrioritized = 6,
  kNoSkip = 7,  // runs even when an input carries an exception
};

// Who complains of waits and places: the engine, not what runs on it.
inline constexpr char kEngineTag[] = "engine";

// A scheduling variable: order of reads and writes, a version (number of writes) and perhaps an
// exception. Made by Engine::new_variable, ended by Engine::delete_variable, never touched
// otherwise.
class Var;

// What a running operation gets. `stream` is null on the CPU.
struct RunContext {
  Device device;
  Stream* stream = nullptr;
};

// Ends an asynchronous operation: call exactly one of the two, once, from any thread. A dropped one
// is an error of ours.
class OnComplete {
 public:
  OnComplete(void (*callback)(void*, std::exception_ptr), void* state)
      : callback_(callback), state_(state) {}
  void operator()() const { callback_(state_, nullptr); }
  void fail(std::exception_ptr error) const { callback_(state_, std::move(error)); }

 private:
  void (*callback_)(void*, std::exception_ptr);
  void* state_;
};

using SyncFn = InlineFunction<void(const RunContext&), 64>;
using AsyncFn = InlineFunction<void(const RunContext&, OnComplete), 64>;

// How to run one operation. `reads` and `writes` must be free of duplicates, within and across:
// Error(kValue) otherwise (dedup_variables helps). They are copied; the spans need only live during
// the push.
struct OpSpec {
  Device device;
  std::span<Var* const> reads;
  std::span<Var* const> writes;
  FnProperty property = FnProperty::kNormal;
  int priority = 0;            // larger runs earlier among the ready
  const char* name = nullptr;  // for traces and errors; lives as long as the process
  bool cheap = false;  // short, never blocks, synchronous: may run on the pusher's own thread
  // Only computes: synchronous, never blocks, takes no lock that a waiting thread may hold, so that
  // this thread may run it.
  bool computes = false;
  std::size_t temp_bytes =
      0;  // memory that it holds from push to completion, for the run-ahead bound
  // So many of the first `writes` it overwrites as a whole: what they carry when it begins goes,
  // and does not keep it from running.
  uint32_t fresh = 0;
};

// Drops repeated variables from both lists, and from `reads` those that are also written. Order is
// kept.
void dedup_variables(std::vector<Var*>* reads, std::vector<Var*>* writes);

// An operation whose lists were checked, ordered and copied once, to be pushed again and again (a
// node of a Plan).
class PreparedOperation;
using PreparedRef = std::shared_ptr<const PreparedOperation>;

// Thread-safe, except that set_bulk_size is per thread. An operation may push operations; it must
// not wait.
//
// Exceptions: what an operation throws is carried by the variables it writes. An operation that
// reads or writes such a variable does not run (unless kNoSkip) and fails with the same exception.
// A wait on a failed variable rethrows and clears that variable, once; wait_for_all rethrows the
// first exception that no wait has shown yet, and clears all variables.
class Engine {
 public:
  virtual ~Engine();

  virtual Var* new_variable() = 0;
  // One that only puts operations in order (the state of a random generator): an operation that
  // fails says nothing about those after it, and failures do not travel along it.
  virtual Var* new_order_variable() = 0;
  // After all operations pushed before on it: runs `then` (may be empty), and the variable is gone.
  // Never throws.
  virtual void delete_variable(Var* var, Device device, SyncFn then = {}) = 0;
  virtual uint64_t version(const Var* var) const = 0;

  virtual void push(SyncFn fn, const OpSpec& spec) = 0;
  virtual void push_async(AsyncFn fn, const OpSpec& spec) = 0;

  // The function is called once for each push, perhaps on several threads at once if the operation
  // writes nothing. The variables must outlive the last push. Bulks do not merge prepared
  // operations.
  virtual PreparedRef prepare(SyncFn fn, const OpSpec& spec) = 0;
  virtual PreparedRef prepare_async(AsyncFn fn, const OpSpec& spec) = 0;
  virtual void push(const PreparedRef& operation) = 0;

  // Drops the exception that `var` carries now, if any, without waiting: for whoever is about to
  // overwrite what it stands for. wait_for_all still shows it.
  virtual void forget_failure(Var* var) = 0;

  // Blocks until all operations pushed before on `var` are done. Rethrows.
  virtual void wait_for_var(Var* var) = 0;
  // Blocks until all writes pushed before on `var` are done; reads may go on. Rethrows.
  virtual void wait_to_read(Var* var) = 0;
  // Blocks until all operations pushed before, and what these push, are done. Rethrows the first
  // not yet seen exception; clears all.
  virtual void wait_for_all() = 0;

  // Operations pushed by this thread are merged into one until `size` are there or a wait comes; 0
  // and 1 = off. Returns the old size.
  virtual int set_bulk_size(int size) = 0;
  virtual int bulk_size() const = 0;
  // Ends this thread's current bulk, if any.
  virtual void flush_bulk() = 0;

  // Fork: quiesce() drains and joins all threads (pushes from other threads wait); resume() starts
  // them anew, with `in_child` with the thread counts of a child. shutdown(): drains, joins,
  // idempotent; afterwards operations run at once on the pusher's thread.
  virtual void quiesce() = 0;
  virtual void resume(bool in_child) = 0;
  virtual void shutdown() = 0;

  // The process's engine, of the configured type; registered with fork and exit. Never destroyed.
  static Engine& get();
};

// Any variant in one process; not registered with fork or exit.
std::unique_ptr<Engine> make_engine(const EngineConfig& config);

}  // namespace mxnet
