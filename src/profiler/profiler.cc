// SPDX-License-Identifier: Apache-2.0
// Sessions: when events are recorded and when they reach the file.
#include "profiler/profiler.h"

#include <unistd.h>

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "profiler/periodic_call.h"

namespace mxnet::profiler {
namespace {

// Time stamps are microseconds, so that viewers need no more than a double; displayTimeUnit is how
// they show them. The first event stands for those to which lines with a leading comma are added.
constexpr const char* kHead =
    "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
    "{\"ph\":\"M\",\"name\":\"trace_of\",\"pid\":0,\"args\":{\"name\":\"libmxnet\"}}";

std::string tail(uint64_t missed, int ring_events, const TickScale& scale) {
  return fmt::format(
      "\n],\n\"otherData\":{{\"process\":{},\"time_zero_us_since_epoch\":{},"
      "\"dropped_events\":{},\"ring_events_per_thread\":{}}}}}\n",
      ::getpid(), scale.origin_epoch_us(), missed, ring_events);
}

// "profile.json" -> "profile.123.json": a forked child must not write its parent's file.
std::string with_process(const std::string& path) {
  const std::size_t slash = path.rfind('/'), dot = path.rfind('.');
  const bool has_dot = dot != path.npos && dot > 0 && (slash == path.npos || dot > slash + 1);
  const std::size_t at = has_dot ? dot : path.size();
  return fmt::format("{}.{}{}", path.substr(0, at), ::getpid(), path.substr(at));
}

}  // namespace

Profiler::Session::Session(const std::string& path) : file(path, kHead) {}

Profiler::Profiler(const ProfilerConfig& config)
    : ring_events_(config.ring_events),
      recorder_(static_cast<std::size_t>(config.ring_events)),
      settings_(default_settings(config)) {}

Profiler::~Profiler() { stop(); }

Profiler::Timer Profiler::apply() {
  recorder_.set_mode(settings_.mode);
  recorder_.set_aggregate(settings_.aggregate_stats);
  const bool record = running_ && !paused_;
  if (record) {
    // Release pairs with observer(): who finds the recorder finds it configured.
    g_observer.store(&recorder_, std::memory_order_release);
  } else {
    Observer* mine = &recorder_;  // another observer stays
    g_observer.compare_exchange_strong(mine, nullptr, std::memory_order_release);
  }
  recording_.store(record, std::memory_order_relaxed);

  const double period = running_ && settings_.continuous_dump ? settings_.dump_period : 0;
  if (period == timer_period_) return nullptr;
  Timer old = std::move(timer_);
  timer_period_ = period;
  if (period > 0) {
    timer_ = std::make_unique<PeriodicCall>(std::chrono::duration<double>(period),
                                            [this] { dump_in_background(); });
  }
  return old;
}

void Profiler::configure(const Settings& settings) {
  Timer old;
  MutexLock lock(mutex_);
  const bool other_file = settings.file_name != settings_.file_name;
  settings_ = settings;
  if (other_file && session_ != nullptr) {
    try {
      write(false);
    } catch (const Error& error) {  // that of before; the new one is to be tried all the same
      log(LogLevel::kWarning, fmt::format("profiler: {}", error.what()));
    }
    session_ = running_ ? std::make_unique<Session>(settings_.file_name) : nullptr;
  }
  old = apply();
}

void Profiler::run() {
  Timer old;
  MutexLock lock(mutex_);
  if (running_) return;
  if (session_ == nullptr) {
    recorder_.skip();
    session_ = std::make_unique<Session>(settings_.file_name);
    complained_ = false;
  }
  running_ = true;
  old = apply();
}

void Profiler::stop() {
  Timer old;
  MutexLock lock(mutex_);
  running_ = false;
  old = apply();
}

void Profiler::pause(bool paused) {
  Timer old;
  MutexLock lock(mutex_);
  paused_ = paused;
  old = apply();
}

void Profiler::write(bool only_news) {
  scale_.settle();
  std::vector<Event> events;
  std::vector<Recorder::ThreadName> names;
  const uint64_t missed = recorder_.fetch(events, names);
  session_->missed += missed;
  if (only_news && session_->written && events.empty() && missed == 0) return;
  try {
    std::string lines;
    session_->text.append(lines, events, names, scale_);
    session_->file.append(lines, tail(session_->missed, ring_events_, scale_));
  } catch (...) {
    session_->missed += events.size();
    throw;
  }
  session_->written = true;
}

void Profiler::dump(bool finished) {
  Timer old;
  MutexLock lock(mutex_);
  if (session_ == nullptr) {
    throw Error(ErrorCode::kGeneric, "profiler",
                "given nothing to dump, expected that the profiler has been run since the last "
                "dump that finished");
  }
  write(false);
  if (!finished) return;
  running_ = false;
  old = apply();
  session_ = nullptr;
}

void Profiler::dump_in_background() noexcept {
  MutexLock lock(mutex_);
  if (session_ == nullptr || !running_) return;
  try {
    write(true);
  } catch (const std::exception& error) {
    // The next dump by hand throws; until then once is enough.
    if (!std::exchange(complained_, true))
      log(LogLevel::kWarning, fmt::format("profiler: {}", error.what()));
  }
}

std::string Profiler::aggregate(const ReportOptions& options, bool reset) {
  MutexLock lock(mutex_);
  if (!settings_.aggregate_stats) return "";
  scale_.settle();
  const uint64_t missed = recorder_.missed() + (session_ != nullptr ? session_->missed : 0);
  std::string text = report(recorder_.stats(), scale_, missed, options);
  if (reset) recorder_.reset_stats();
  return text;
}

void Profiler::dump_at_exit() noexcept {
  try {
    {
      MutexLock lock(mutex_);
      if (session_ == nullptr) return;
    }
    dump(true);
  } catch (const std::exception& error) {
    log(LogLevel::kWarning, fmt::format("profiler: {}", error.what()));
  }
}

void Profiler::lock_for_fork() {
  mutex_.lock();
  recorder_.lock_for_fork();
}

void Profiler::unlock_in_parent() {
  recorder_.unlock_for_fork();
  mutex_.unlock();
}

void Profiler::unlock_in_child() {
  running_ = false;
  // Its thread exists in the parent only: not to be joined.
  static_cast<void>(timer_.release());
  timer_period_ = 0;
  static_cast<void>(apply());  // makes no timer: not running
  recorder_.clear_in_child();
  if (session_ != nullptr) session_->file.abandon();
  session_ = nullptr;
  settings_.file_name = with_process(settings_.file_name);
  recorder_.unlock_for_fork();
  mutex_.unlock();
}

}  // namespace mxnet::profiler
