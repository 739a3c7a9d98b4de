// SPDX-License-Identifier: Apache-2.0
// Mutex, lock and condition variable that clang's thread-safety analysis understands, and the
// annotations for fields they guard. Other compilers see plain std types.
#pragma once
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define MX_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define MX_THREAD_ANNOTATION(x)
#endif

#define MX_CAPABILITY(name) MX_THREAD_ANNOTATION(capability(name))
#define MX_SCOPED_CAPABILITY MX_THREAD_ANNOTATION(scoped_lockable)
#define MX_GUARDED_BY(m) MX_THREAD_ANNOTATION(guarded_by(m))
#define MX_REQUIRES(...) MX_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define MX_ACQUIRE(...) MX_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define MX_RELEASE(...) MX_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define MX_TRY_ACQUIRE(...) MX_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define MX_NO_THREAD_SAFETY_ANALYSIS MX_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace mxnet {

class MX_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() MX_ACQUIRE() { mutex_.lock(); }
  void unlock() MX_RELEASE() { mutex_.unlock(); }
  bool try_lock() MX_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class MX_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) MX_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() MX_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  // Releases `mutex` while it sleeps. May wake for no reason: call it in a loop that tests the
  // condition.
  void wait(Mutex& mutex) MX_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  // As wait, but gives up at `deadline`; false if it did.
  template <class TimePoint>
  bool wait_until(Mutex& mutex, TimePoint deadline) MX_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool woken = cv_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return woken;
  }
  void notify_one() { cv_.notify_one(); }
  void notify_all() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace mxnet
