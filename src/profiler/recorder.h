// SPDX-License-Identifier: Apache-2.0
// The observer that turns what the hooks report into events, each thread into its own log.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hooks.h"
#include "base/lock.h"
#include "profiler/thread_log.h"

namespace mxnet::profiler {

// Bits of MXNET_PROFILER_MODE.
enum Mode : unsigned {
  kModeSymbolic = 1,
  kModeImperative = 2,
  kModeCCalls = 4,
  kModeMemory = 8,
  kModeAll = 15,
};

// The hooks and add(): any thread, without locks but at a thread's first event and for asynchronous
// operations. The functions of the reader: one thread at a time.
//
// Which operation is an operator: one that runs as one. An operation inside of which operators of a
// compiled graph run is a segment, unless it is nothing but one operator of the same name; and a
// bulk is one always. So each operator is in a trace once, whether it was merged or not.
class Recorder final : public Observer {
 public:
  // Events kept per thread between two fetches.
  explicit Recorder(std::size_t events_per_thread);
  ~Recorder() override;

  void operation_begin(const char* name, Device device, uint64_t sequence) override;
  void operation_end(const char* name, Device device, uint64_t sequence) override;
  void async_begin(const char* name, Device device, uint64_t sequence) override;
  void async_end(const char* name, Device device, uint64_t sequence) override;
  void span_begin(SpanKind kind, const char* name) override;
  void span_end(SpanKind kind, const char* name) override;
  void memory_event(Device device, const char* tag, int64_t bytes) override;

  // For what users make; sets the thread, and the start where `event` has none.
  void add(Event event);
  // A stamp of the calling thread, later than its earlier ones.
  uint64_t stamp();

  void set_mode(unsigned mode) { mode_.store(mode, std::memory_order_relaxed); }  // a filter only
  void set_aggregate(bool on) { aggregate_.store(on, std::memory_order_relaxed); }
  void set_memory_in_use(Device device, int64_t bytes);

  // --- The reader's.
  struct ThreadName {
    uint32_t thread;
    std::string name;
  };
  // Appends all events since the last fetch, and the names of threads that are new; returns how
  // many events were overwritten before.
  uint64_t fetch(std::vector<Event>& events, std::vector<ThreadName>& names);
  // Forgets the events that are there.
  void skip();
  uint64_t missed();
  std::vector<Stat> stats();
  void reset_stats();

  // Around fork. In the child nothing is recorded any more, and the other threads are gone.
  void lock_for_fork() MX_NO_THREAD_SAFETY_ANALYSIS;
  void unlock_for_fork() MX_NO_THREAD_SAFETY_ANALYSIS;
  void clear_in_child() MX_NO_THREAD_SAFETY_ANALYSIS;

 private:
  struct AsyncBegin {
    uint64_t start;
    const char* name;
  };

  // Null if there is no memory, or the thread is at its very end.
  ThreadLog* log();
  ThreadLog* join();
  void begin(OpenKind kind, const char* name, Device device, uint64_t sequence);
  void end(OpenKind kind, const char* name, uint64_t sequence);
  void close_operation(ThreadLog& log, const OpenSpan& span);
  void record(ThreadLog& log, const Event& event);
  bool wants(unsigned bits) const { return (mode_.load(std::memory_order_relaxed) & bits) != 0; }
  std::atomic<int64_t>& in_use(Device device);

  const uint64_t id_;  // of all recorders of the process
  const std::size_t events_per_thread_;
  std::atomic<unsigned> mode_{0};
  std::atomic<bool> aggregate_{false};
  std::atomic<uint32_t> generation_{1};  // of the statistics; 0 is that of an unused table
  std::atomic<uint64_t> lost_{0};        // never came into a ring
  uint64_t lost_told_ = 0;               // the reader's

  static constexpr std::size_t kGpus = 64;
  std::array<std::atomic<int64_t>, 3 + kGpus> in_use_{};

  Mutex mutex_;
  std::vector<std::shared_ptr<ThreadLog>> logs_ MX_GUARDED_BY(mutex_);
  std::vector<ThreadName> new_names_ MX_GUARDED_BY(mutex_);
  Mutex async_mutex_;
  std::unordered_map<uint64_t, AsyncBegin> async_ MX_GUARDED_BY(async_mutex_);
};

}  // namespace mxnet::profiler
