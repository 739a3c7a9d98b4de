// SPDX-License-Identifier: Apache-2.0
// The one thing that a running program can tell GNU OpenMP about waiting: it sleeps at once while
// it has more threads than there are cores. So while the machine is crowded a thread holds a pool
// that does nothing but count.
#include "base/crowd_watch.h"

#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/cpu_info.h"
#include "base/fork_order.h"
#include "base/leaked.h"
#include "base/of_thread.h"
#include "base/omp.h"
#include "base/tick_counter.h"
#include "base/worker_thread.h"

namespace mxnet {
namespace {

// Shares of a stretch that a thread was kept waiting: in a crowd, and after one.
constexpr double kDelayed = 0.2, kStillDelayed = 0.05;
// With less of the cores than this others have taken them.
constexpr double kAllOfTheCores = 0.85;
// Seconds that a crowd lasts at least. Who comes back sooner than that many times as long after it
// has been there all the time.
constexpr double kShortest = 0.1, kLongest = 2, kSoon = 2;
// Seconds after which a thread that was in a crowd and has not looked again does not count: longer
// than any but the slowest operations.
constexpr double kForgotten = 0.5;

// What a region does in which nothing is to be done: without anything it would not begin. Not of
// the thread that begins it, since the thread sanitizer does not see that its members wait for it.
std::atomic<unsigned> g_members{0};

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

bool Crowd::after(const CpuUse& stretch, int cpus) {
  now_ += stretch.wall;
  const double delay = stretch.delay / stretch.wall, cores = stretch.process / stretch.wall;
  const double lasted = now_ - changed_;
  if (crowded_ ? lasted < least_ || delay > kStillDelayed
               : delay < kDelayed || cores > kAllOfTheCores * cpus) {
    return crowded_;
  }
  crowded_ = !crowded_;
  changed_ = now_;
  if (crowded_) least_ = lasted < kSoon * least_ ? std::min(2 * least_, kLongest) : kShortest;
  return crowded_;
}

// The runtime counts the process's first thread, and of each pool all but the one that begins its
// regions: together they have to be one more than there are cores.
int idle_pool_threads(int width, int cpus) {
  // A narrow pool leaves cores to the other programs, and it would take many threads to make it too
  // many; a wide one is too many as it is.
  if (width <= 1 || 2 * width < cpus || width > cpus) return 0;
  return cpus - width + 2;
}

IdlePool::IdlePool(int threads) : thread_([this, threads] { hold(threads); }) {}

IdlePool::~IdlePool() {
  end_.count_down();
  thread_.join();
}

void IdlePool::hold(int threads) {
  prepare_worker_thread();
  if (granted_threads(threads) < threads) return end_.wait();  // GNU OpenMP would end the process
#pragma omp parallel num_threads(threads)
  g_members.fetch_add(1, std::memory_order_relaxed);
  end_.wait();
}

std::shared_ptr<void> make_idle_pool(int threads) { return std::make_shared<IdlePool>(threads); }

void SharedIdlePool::ask(const void* who, int threads, double now) {
  if (threads == 0) return end(who, now);
  const MutexLock lock(mutex_);
  last_ = who;
  until_ = now + kForgotten;
  if (pool_ != nullptr) return;
  try {
    pool_ = make_(threads);
  } catch (const std::system_error&) {  // no more threads: who asks again tries again
  }
}

void SharedIdlePool::end(const void* who, double now) {
  std::shared_ptr<void> ended;  // its threads are waited for without the lock
  {
    const MutexLock lock(mutex_);
    if (pool_ == nullptr || (who != last_ && now <= until_)) return;
    ended = std::move(pool_);
    ++ending_;
  }
  ended.reset();
  const MutexLock lock(mutex_);
  --ending_;
  ended_.notify_all();
}

bool SharedIdlePool::is_there() {
  const MutexLock lock(mutex_);
  return pool_ != nullptr;
}

void SharedIdlePool::hold_for_fork() {
  mutex_.lock();
  while (ending_ > 0) ended_.wait(mutex_);
  pool_.reset();
}

namespace {

SharedIdlePool& shared_pool() {
  static Leaked<SharedIdlePool> pool;
  return *pool;
}

// The pool's thread may be waiting for a lock of base/omp.cc, so this one is held before that.
[[gnu::constructor(kForkOrderProfiler)]] void register_handlers() {
  static_cast<void>(shared_pool());
  static_cast<void>(
      ::pthread_atfork([]() MX_NO_THREAD_SAFETY_ANALYSIS { shared_pool().hold_for_fork(); },
                       []() MX_NO_THREAD_SAFETY_ANALYSIS { shared_pool().go_on(); },
                       []() MX_NO_THREAD_SAFETY_ANALYSIS { shared_pool().go_on(); }));
}

// What has passed since thread and process began; false if the system does not tell. Opened anew
// each time: the child of a fork would read its parent's, and a program may close what it has not
// opened. The file holds nanoseconds on a core, nanoseconds of waiting for one, and how often.
bool read_use(CpuUse* use) {
  const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 100> text{};
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  if (size <= 0) return false;
  const char* const end = text.data() + size;
  uint64_t running = 0, waiting = 0;
  const auto [space, first] = std::from_chars(text.data(), end, running);
  if (first != std::errc() || space == end) return false;
  if (std::from_chars(space + 1, end, waiting).ec != std::errc()) return false;
  *use = {.wall = seconds_of(CLOCK_MONOTONIC),
          .process = seconds_of(CLOCK_PROCESS_CPUTIME_ID),
          .delay = 1e-9 * static_cast<double>(waiting)};
  return true;
}

}  // namespace

CrowdWatch::CrowdWatch() : cpus_(static_cast<int>(allowed_cpus().size())) {
  last_ticks_ = ticks();
  if (cpus_ == 1 || !read_use(&last_)) cpus_ = 0;
}

CrowdWatch::~CrowdWatch() {
  if (stocks_ > 0) shared_pool().ask(this, 0, seconds_of(CLOCK_MONOTONIC));
}

uint64_t CrowdWatch::ticks() {
  static const bool counts = tick_counter_is_clock();
  if (counts) return read_tick_counter();
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void CrowdWatch::take_stock() {
  ++stocks_;
  last_ticks_ = ticks();
  CpuUse now;
  if (!read_use(&now)) return;
  const CpuUse use{.wall = now.wall - last_.wall,
                   .process = now.process - last_.process,
                   .delay = now.delay - last_.delay};
  last_ = now;
  // Of one who begins none wider than himself, whatever he waits for, none.
  const int threads = idle_pool_threads(omp_get_max_threads(), cpus_);
  const bool crowded = threads != 0 && crowd_.after(use, cpus_);
  shared_pool().ask(this, crowded ? threads : 0, now.wall);
}

void look_for_crowd() {
  if (omp_in_parallel() == 0) of_thread<CrowdWatch>().look();
}

}  // namespace mxnet
