// SPDX-License-Identifier: Apache-2.0
// The profiler as its users see it: configure, run, pause, dump to a file, print tables. See
// docs/profiler.md.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/config_sections.h"
#include "base/lock.h"
#include "profiler/clock.h"
#include "profiler/recorder.h"
#include "profiler/settings.h"
#include "profiler/stats_report.h"
#include "profiler/trace_file.h"
#include "profiler/trace_text.h"

namespace mxnet::profiler {

class PeriodicCall;

// Thread-safe: one mutex guards all but the recorder's hooks, which take none. It is held while a
// dump writes; recording goes on meanwhile.
//
// A session is what goes into one file: it begins with run() and ends with dump(true), with a new
// file name, or with the process. Within a session the profiler may be stopped, paused and run
// again, and each dump adds to the file.
class Profiler {
 public:
  // The process's, made at the first call; it stops in a forked child, writes what is left at exit,
  // and is never destroyed.
  static Profiler& get();
  // The same, for what must not make it: null before.
  static Profiler* get_if_made() noexcept;

  explicit Profiler(const ProfilerConfig& config);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Takes effect at once, also while running.
  void configure(const Settings& settings);
  void run();
  void stop();
  void pause(bool paused);
  // Whether events are being recorded.
  bool recording() const { return recording_.load(std::memory_order_relaxed); }  // a hint only

  // Makes the file complete so far. Throws Error(kGeneric) without a session, or if it cannot be
  // written; the events are lost then. `finished` stops the profiler and ends the session.
  void dump(bool finished);
  // The tables since the start or the last reset; empty if they are not kept (aggregate_stats).
  std::string aggregate(const ReportOptions& options, bool reset);

  Recorder& recorder() { return recorder_; }

  // Called around a fork.
  void lock_for_fork() MX_NO_THREAD_SAFETY_ANALYSIS;
  void unlock_in_parent() MX_NO_THREAD_SAFETY_ANALYSIS;
  void unlock_in_child() MX_NO_THREAD_SAFETY_ANALYSIS;
  // Ends the session, if there is one; failures are logged.
  void dump_at_exit() noexcept;

 private:
  struct Session {
    explicit Session(const std::string& path);
    TraceFile file;
    TraceText text;
    uint64_t missed = 0;  // events that the trace lacks
    bool written = false;
  };
  using Timer = std::unique_ptr<PeriodicCall>;

  // Lets the hooks and the timer agree with running_, paused_ and settings_. The result, if any, is
  // to be destroyed without the mutex: its call may be waiting for that.
  [[nodiscard]] Timer apply() MX_REQUIRES(mutex_);
  void write(bool only_news) MX_REQUIRES(mutex_);
  void dump_in_background() noexcept;

  const int ring_events_;
  Recorder recorder_;
  std::atomic<bool> recording_{false};
  Mutex mutex_;
  Settings settings_ MX_GUARDED_BY(mutex_);
  TickScale scale_ MX_GUARDED_BY(mutex_);
  bool running_ MX_GUARDED_BY(mutex_) = false;
  bool paused_ MX_GUARDED_BY(mutex_) = false;
  bool complained_ MX_GUARDED_BY(mutex_) = false;
  std::unique_ptr<Session> session_ MX_GUARDED_BY(mutex_);
  Timer timer_ MX_GUARDED_BY(mutex_);
  double timer_period_ MX_GUARDED_BY(mutex_) = 0;
};

}  // namespace mxnet::profiler
