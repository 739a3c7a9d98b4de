// SPDX-License-Identifier: Apache-2.0
// The loop of a worker: take, run, look again for a moment, sleep.
#include "engine/worker_pool.h"

#include <pthread.h>

#include "base/cpu_relax.h"
#include "base/omp.h"
#include "base/worker_thread.h"
#include "engine/dependency_engine.h"

namespace mxnet::engine {
namespace {
// How long an idle worker stays awake: about 10 us, so that a producer that pauses for its own work
// finds it awake, and one that stops costs nothing.
constexpr int kSpins = 200;
}  // namespace

Stream* StreamSet::get(Device device) {
  if (!device.is_gpu()) return nullptr;
  for (const Entry& entry : streams_) {
    if (entry.device == device.id) return entry.stream.get();
  }
  auto stream = std::make_unique<Stream>(device_api(device.type), device.id, priority_);
  streams_.push_back({device.id, std::move(stream)});
  return streams_.back().stream.get();
}

WorkerPool::WorkerPool(DependencyEngine& engine, std::string name, StreamPriority priority)
    : engine_(engine), name_(std::move(name)), priority_(priority) {}

void WorkerPool::start(int threads) {
  // Relaxed: the threads are made after it.
  stopping_.store(false, std::memory_order_relaxed);
  // Up to that many: an attempt that failed half way, for want of threads, is continued.
  threads_.reserve(static_cast<std::size_t>(threads));
  while (threads_.size() < static_cast<std::size_t>(threads))
    threads_.emplace_back([this] { work(); });
  // Relaxed: helpers take it for a hint.
  size_.store(static_cast<uint32_t>(threads), std::memory_order_relaxed);
}

void WorkerPool::stop() {
  stopping_.store(true, std::memory_order_seq_cst);  // published like work, see Dock::wake_one
  // Those asleep now; the others look at stopping_ before they sleep.
  for (std::size_t i = 0; i < threads_.size(); ++i) dock_.wake_one();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkerPool::work() {
  prepare_worker_thread();
  pthread_setname_np(pthread_self(), name_.c_str());
  StreamSet streams(priority_);
  Frame frame(engine_, this, &streams);
  busy_.fetch_add(1, std::memory_order_relaxed);  // see take_to_help
  while (Operation* operation = next(frame)) {
    sync_omp_thread();  // one comparison, unless somebody changed the number of threads
    engine_.run_from_queue(operation, frame);
  }
  busy_.fetch_sub(1, std::memory_order_relaxed);
}

Operation* WorkerPool::take_to_help() {
  // Relaxed: whether one more thread computes for a moment is a matter of speed only.
  if (busy_.load(std::memory_order_relaxed) >= size_.load(std::memory_order_relaxed))
    return nullptr;
  return queue_.pop_computing();
}

Operation* WorkerPool::next(Frame& frame) {
  if (Operation* operation = queue_.pop()) return operation;
  engine_.worker_idles(frame);
  busy_.fetch_sub(1, std::memory_order_relaxed);  // see take_to_help
  Operation* const operation = await();
  busy_.fetch_add(1, std::memory_order_relaxed);
  return operation;
}

// Null when the pool stops.
Operation* WorkerPool::await() {
  for (;;) {
    for (int i = 0; i < kSpins; ++i) {
      if (Operation* operation = queue_.pop()) return operation;
      cpu_relax();
    }
    dock_.announce();
    Operation* operation = queue_.pop();
    if (operation != nullptr || stopping_.load(std::memory_order_seq_cst)) {
      dock_.cancel();
      return operation;
    }
    dock_.sleep();
  }
}

}  // namespace mxnet::engine
