// SPDX-License-Identifier: Apache-2.0
// The hot path: from a hook to an event in the calling thread's log.
#include "profiler/recorder.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace mxnet::profiler {
namespace {

constexpr const char* kUnnamed = "(unnamed)";

uint32_t this_thread_number() { return static_cast<uint32_t>(::syscall(SYS_gettid)); }

// The calling thread's log of the recorder that it used last. Trivial, so that events may come
// until the thread's very end.
struct Cached {
  uint64_t recorder = 0;
  ThreadLog* log = nullptr;
  bool ended = false;
};
constinit thread_local Cached t_cached;

// All logs of the calling thread; they become vacant when it ends.
struct OwnLogs {
  ~OwnLogs() {
    t_cached = {0, nullptr, true};
    // Release: see ThreadLog::vacant.
    for (auto& [id, log] : logs) log->vacant.store(true, std::memory_order_release);
  }
  std::vector<std::pair<uint64_t, std::shared_ptr<ThreadLog>>> logs;
};
OwnLogs& own_logs() {
  thread_local const auto own = std::make_unique<OwnLogs>();
  return *own;
}

uint64_t next_id() {
  static std::atomic<uint64_t> ids{0};
  return ids.fetch_add(1, std::memory_order_relaxed) + 1;  // only uniqueness matters
}

std::string name_of_this_thread() {
  char name[16] = "";
  ::pthread_getname_np(::pthread_self(), name, sizeof(name));
  return name;
}

}  // namespace

Recorder::Recorder(std::size_t events_per_thread)
    : id_(next_id()), events_per_thread_(events_per_thread) {}

Recorder::~Recorder() = default;

ThreadLog* Recorder::log() {
  if (t_cached.recorder == id_) [[likely]]
    return t_cached.log;
  return join();
}

ThreadLog* Recorder::join() {
  if (t_cached.ended) return nullptr;
  try {
    OwnLogs& own = own_logs();
    for (auto& [id, mine] : own.logs) {
      if (id != id_) continue;
      t_cached = {id_, mine.get(), false};
      return mine.get();
    }
    MutexLock lock(mutex_);
    std::shared_ptr<ThreadLog> taken;
    for (const auto& candidate : logs_) {
      // Acquire: see ThreadLog::vacant.
      if (!candidate->vacant.load(std::memory_order_acquire)) continue;
      taken = candidate;
      break;
    }
    if (taken == nullptr) {
      taken = std::make_shared<ThreadLog>(events_per_thread_);
      logs_.push_back(taken);
    }
    new_names_.push_back({this_thread_number(), name_of_this_thread()});
    own.logs.emplace_back(id_, taken);
    taken->vacant.store(false, std::memory_order_relaxed);  // ordered by the mutex
    taken->thread = this_thread_number();
    taken->depth = 0;
    t_cached = {id_, taken.get(), false};
    return taken.get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

uint64_t Recorder::stamp() {
  ThreadLog* const mine = log();
  return mine != nullptr ? mine->stamp() : Clock::now();
}

void Recorder::record(ThreadLog& log, const Event& event) {
  log.ring.push(event);
  // Relaxed: a switch, and a number that tells apart.
  if (!aggregate_.load(std::memory_order_relaxed)) return;
  Event counted = event;
  if (event.kind == EventKind::kMarker) counted.value = 0;  // an instant: its scope is no duration
  log.stats.add(counted, generation_.load(std::memory_order_relaxed));
}

void Recorder::add(Event event) {
  ThreadLog* const mine = log();
  if (mine == nullptr) {
    lost_.fetch_add(1, std::memory_order_relaxed);  // a count only
    return;
  }
  if (event.start == 0) event.start = mine->stamp();
  event.thread = mine->thread;
  record(*mine, event);
}

void Recorder::begin(OpenKind kind, const char* name, Device device, uint64_t sequence) {
  ThreadLog* const mine = log();
  if (mine == nullptr) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  OpenSpan* const span = mine->open();
  if (span == nullptr) return;
  *span = {mine->stamp(), sequence, name != nullptr ? name : kUnnamed, device, kind, false, 0,
           nullptr};
}

void Recorder::end(OpenKind kind, const char* name, uint64_t sequence) {
  ThreadLog* const mine = log();
  if (mine == nullptr) return;
  if (mine->depth > mine->stack.size()) {
    --mine->depth;
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::size_t at = mine->find(kind, name != nullptr ? name : kUnnamed, sequence);
  if (at == ThreadLog::kNone) return;  // the begin was filtered out, or came before a fork
  const OpenSpan span = mine->stack[at];
  mine->depth = at;
  OpenSpan* const outer = mine->top();
  if (kind == OpenKind::kOperation || kind == OpenKind::kSegment) {
    if (outer != nullptr && outer->kind == OpenKind::kSegment) {
      outer->device = span.device;
      outer->graph |= span.graph;
    }
    return close_operation(*mine, span);
  }
  Event event{
      .start = span.start, .name = span.name, .device = span.device, .thread = mine->thread};
  if (kind == OpenKind::kCCall) {
    event.kind = EventKind::kCCall;
    event.value = mine->stamp() - span.start;
    return record(*mine, event);
  }
  const bool graph = kind == OpenKind::kSymbolic;
  if (outer != nullptr) {
    event.device = outer->device;
    outer->graph |= graph;
    if (outer->operators++ == 0) outer->first = span.name;
  }
  event.value = mine->stamp() - span.start;
  if (wants(graph ? kModeSymbolic : kModeImperative)) record(*mine, event);
}

void Recorder::close_operation(ThreadLog& log, const OpenSpan& span) {
  const bool segment = span.kind == OpenKind::kSegment || span.operators > 0;
  if (span.operators == 1 && std::strcmp(span.first, span.name) == 0) return;
  if (!wants(kModeImperative) && !(span.graph && wants(kModeSymbolic))) return;
  record(log, {.start = span.start,
               .value = log.stamp() - span.start,
               .name = span.name,
               .kind = segment ? EventKind::kSegment : EventKind::kOperator,
               .device = span.device,
               .thread = log.thread});
}

void Recorder::operation_begin(const char* name, Device device, uint64_t sequence) {
  if (wants(kModeSymbolic | kModeImperative)) begin(OpenKind::kOperation, name, device, sequence);
}

void Recorder::operation_end(const char* name, Device, uint64_t sequence) {
  end(OpenKind::kOperation, name, sequence);
}

void Recorder::span_begin(SpanKind kind, const char* name) {
  const unsigned bits = kind == SpanKind::kCCall ? kModeCCalls : kModeSymbolic | kModeImperative;
  if (wants(bits)) begin(static_cast<OpenKind>(kind), name, {}, 0);
}

void Recorder::span_end(SpanKind kind, const char* name) {
  end(static_cast<OpenKind>(kind), name, 0);
}

void Recorder::async_begin(const char* name, Device, uint64_t sequence) {
  if (!wants(kModeImperative)) return;
  const uint64_t start = stamp();
  try {
    MutexLock lock(async_mutex_);
    async_[sequence] = {start, name != nullptr ? name : kUnnamed};
  } catch (const std::bad_alloc&) {
    lost_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Recorder::async_end(const char*, Device device, uint64_t sequence) {
  AsyncBegin begun;
  {
    MutexLock lock(async_mutex_);
    const auto found = async_.find(sequence);
    if (found == async_.end()) return;
    begun = found->second;
    async_.erase(found);
  }
  // Threads' clocks may be some ticks ahead of each other (see ThreadLog::stamp).
  const uint64_t now = std::max(stamp(), begun.start);
  add({.start = begun.start,
       .value = now - begun.start,
       .name = begun.name,
       .kind = EventKind::kAsync,
       .device = device});
}

std::atomic<int64_t>& Recorder::in_use(Device device) {
  switch (device.type) {
    case DeviceType::kCPUPinned:
      return in_use_[1];
    case DeviceType::kCPUShared:
      return in_use_[2];
    case DeviceType::kGPU:
      return in_use_[3 + static_cast<std::size_t>(device.id) % kGpus];
    default:
      return in_use_[0];  // all CPU numbers are the one CPU
  }
}

void Recorder::set_memory_in_use(Device device, int64_t bytes) {
  in_use(device).store(bytes, std::memory_order_relaxed);  // a count only
}

void Recorder::memory_event(Device device, const char*, int64_t bytes) {
  const int64_t now = in_use(device).fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (!wants(kModeMemory)) return;
  if (!device.is_gpu()) device.id = 0;
  add({.value = static_cast<uint64_t>(std::max<int64_t>(now, 0)),
       .name = "Memory",
       .kind = EventKind::kMemory,
       .device = device});
}

uint64_t Recorder::fetch(std::vector<Event>& events, std::vector<ThreadName>& names) {
  const uint64_t lost = lost_.load(std::memory_order_relaxed);
  uint64_t missed = lost - std::exchange(lost_told_, lost);
  MutexLock lock(mutex_);
  for (const auto& log : logs_) missed += log->ring.fetch(events);
  names.insert(names.end(), new_names_.begin(), new_names_.end());
  new_names_.clear();
  return missed;
}

void Recorder::skip() {
  lost_told_ = lost_.load(std::memory_order_relaxed);
  MutexLock lock(mutex_);
  for (const auto& log : logs_) log->ring.skip();
}

uint64_t Recorder::missed() {
  uint64_t missed = lost_.load(std::memory_order_relaxed) - lost_told_;
  MutexLock lock(mutex_);
  for (const auto& log : logs_) missed += log->ring.missed();
  return missed;
}

std::vector<Stat> Recorder::stats() {
  std::vector<Stat> all;
  MutexLock lock(mutex_);
  for (const auto& log : logs_)
    log->stats.read(generation_.load(std::memory_order_relaxed), all);  // only the reader writes it
  return all;
}

void Recorder::reset_stats() { generation_.fetch_add(1, std::memory_order_relaxed); }

void Recorder::lock_for_fork() {
  mutex_.lock();
  async_mutex_.lock();
}

void Recorder::unlock_for_fork() {
  async_mutex_.unlock();
  mutex_.unlock();
}

void Recorder::clear_in_child() {
  mode_.store(0, std::memory_order_relaxed);
  async_.clear();
  new_names_.clear();
  for (const auto& log : logs_) {
    log->depth = 0;
    log->ring.skip();
    const bool mine = t_cached.recorder == id_ && t_cached.log == log.get();
    log->vacant.store(!mine, std::memory_order_relaxed);  // one thread is left
    if (!mine) continue;
    log->thread = this_thread_number();
    new_names_.push_back({log->thread, name_of_this_thread()});
  }
  reset_stats();
}

}  // namespace mxnet::profiler
