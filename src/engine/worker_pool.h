// SPDX-License-Identifier: Apache-2.0
// Threads that take ready operations from one queue and sleep, without using the CPU, when there
// are none.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/stream.h"
#include "engine/ready_queue.h"
#include "engine/waiting.h"

namespace mxnet::engine {

struct Frame;

// The streams of one worker, a GPU each, made at first use. Not thread-safe.
class StreamSet {
 public:
  explicit StreamSet(StreamPriority priority = StreamPriority::kNormal) : priority_(priority) {}
  // Null for the CPU. Throws what making a stream throws.
  Stream* get(Device device);

 private:
  struct Entry {
    int32_t device;
    std::unique_ptr<Stream> stream;
  };
  const StreamPriority priority_;
  std::vector<Entry> streams_;
};

// Thread-safe, but for start and stop. Threads come and go (fork, shutdown), the pool itself stays
// where it is: a pusher may still be about to wake a worker in submit when its operation is already
// done and the threads have ended.
class WorkerPool {
 public:
  WorkerPool(DependencyEngine& engine, std::string name, StreamPriority priority);
  ~WorkerPool() { stop(); }

  void start(int threads);
  // REQUIRES: all submitted operations are done.
  void stop();

  void submit(Operation* operation) {
    queue_.push(operation);
    dock_.wake_one();
  }
  bool urgent() const { return queue_.urgent(); }
  // For a thread that waits: the next operation, if it only computes and not all workers are busy.
  Operation* take_to_help();
  // For a thread that looks for some among what is ready: it runs them, and submits the others.
  Operation* take() { return queue_.pop(); }
  // Whether a worker runs something and does not pause in it; a hint.
  bool runs() const {
    return busy_.load(std::memory_order_relaxed) > pausing_.load(std::memory_order_relaxed);
  }
  // The time for which a worker of `pool`, if any, waits for what others do.
  class Pause {
   public:
    explicit Pause(WorkerPool* pool) : pool_(pool) {
      if (pool_ != nullptr) pool_->pausing_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Pause() {
      if (pool_ != nullptr) pool_->pausing_.fetch_sub(1, std::memory_order_relaxed);
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    WorkerPool* const pool_;
  };

 private:
  void work();
  Operation* next(Frame& frame);
  Operation* await();

  DependencyEngine& engine_;
  const std::string name_;  // of the threads, at most 15 characters
  const StreamPriority priority_;
  ReadyQueue queue_;
  Dock dock_;
  std::atomic<bool> stopping_{false};
  std::atomic<uint32_t> busy_{0};     // workers that have found work and not yet run out of it
  std::atomic<uint32_t> pausing_{0};  // of these
  std::atomic<uint32_t> size_{0};
  std::vector<std::thread> threads_;
};

}  // namespace mxnet::engine
