// SPDX-License-Identifier: Apache-2.0
// How OpenMP's threads wait beside other programs. Between two regions, and for the last of a
// region, GNU OpenMP looks for milliseconds before it sleeps. On a machine that has nothing else to
// do this makes a region many times shorter ("Who begins regions" in docs/engine.md). Where another
// program has the core of the thread that is waited for, it takes away the core that this thread
// could have, at each of thousands of regions.
#pragma once
#include <cstdint>
#include <latch>
#include <memory>
#include <thread>

#include "base/lock.h"

namespace mxnet {

// A thread's last stretch of time, in seconds.
struct CpuUse {
  double wall = 0;
  double process = 0;  // that all threads of this process have computed, or looked for work
  double delay = 0;    // that this thread was ready to run, and another had its core
};

// Whether others need the cores, one stretch of time after the other.
class Crowd {
 public:
  // They do when this thread was kept waiting, and not by threads of this process, which together
  // would have had all `cpus` then. Threads that sleep are hardly kept waiting even so: what was a
  // crowd remains one for a while, which grows each time that it ends too early.
  bool after(const CpuUse& stretch, int cpus);

 private:
  bool crowded_ = false;
  double now_ = 0, changed_ = 0;  // seconds of all stretches, and when it became what it is
  double least_ = 0;              // seconds that a crowd lasts
};

// How many threads an idle pool needs beside regions of `width` threads, for the runtime to have
// all threads sleep at once; 0 = they do without, or no pool would help.
int idle_pool_threads(int width, int cpus);

// A pool of threads asleep. As long as it lives, they count for the runtime.
class IdlePool {
 public:
  // Throws std::system_error if there can be no more threads.
  explicit IdlePool(int threads);
  ~IdlePool();
  IdlePool(const IdlePool&) = delete;
  IdlePool& operator=(const IdlePool&) = delete;

 private:
  void hold(int threads);

  std::latch end_{1};
  std::thread thread_;
};

std::shared_ptr<void> make_idle_pool(int threads);

// The one of a process, as long as one of its threads says that it is in a crowd. Thread-safe.
class SharedIdlePool {
 public:
  // By what pools are made: as make_idle_pool(), or, since the thread sanitizer does not see what
  // OpenMP does, of other threads.
  using Make = std::shared_ptr<void> (*)(int threads);
  explicit SharedIdlePool(Make make = &make_idle_pool) : make_(make) {}

  // By `who`, at `now` seconds: the pool that it asks for has so many threads; 0 = it needs none.
  // Who has asked and says no more, since it begins no more regions, is forgotten after a moment.
  void ask(const void* who, int threads, double now);
  bool is_there();

  // Around a fork, whose child has none of its threads: the runtime would count them there for
  // ever, also those of a pool that is coming to its end.
  void hold_for_fork() MX_ACQUIRE(mutex_);
  void go_on() MX_RELEASE(mutex_) { mutex_.unlock(); }

 private:
  void end(const void* who, double now);

  const Make make_;
  Mutex mutex_;
  CondVar ended_;
  int ending_ MX_GUARDED_BY(mutex_) = 0;  // pools that somebody waits for
  std::shared_ptr<void> pool_ MX_GUARDED_BY(mutex_);
  const void* last_ MX_GUARDED_BY(mutex_) = nullptr;  // who has asked last,
  double until_ MX_GUARDED_BY(mutex_) = 0;            // and how long that counts
};

// For a thread that begins regions; used by it alone. While the machine is crowded its threads, and
// those of all regions of the process, sleep as soon as they have nothing to do.
class CrowdWatch {
 public:
  CrowdWatch();
  ~CrowdWatch();
  CrowdWatch(const CrowdWatch&) = delete;
  CrowdWatch& operator=(const CrowdWatch&) = delete;

  // Before a region: reads a counter, and every 30 ms or so takes stock.
  void look() {
    if (cpus_ != 0 && ticks() - last_ticks_ >= kTicks) take_stock();
  }
  // How often it has.
  int stocks() const { return stocks_; }

 private:
  static constexpr uint64_t kTicks = uint64_t{1} << 26;

  static uint64_t ticks();
  void take_stock();

  int cpus_;  // 0 = nothing to watch
  int stocks_ = 0;
  uint64_t last_ticks_ = 0;
  CpuUse last_;
  Crowd crowd_;
};

// The calling thread's look, before a region that it begins; within a region nothing.
void look_for_crowd();

}  // namespace mxnet
