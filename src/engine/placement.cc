// SPDX-License-Identifier: Apache-2.0
// Naive: no workers. Threaded: one pool. PerDevice: a pool for each device and kind of work.
#include "engine/placement.h"

#include <array>
#include <atomic>

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"

namespace mxnet::engine {
namespace {

class CallerPlacement final : public Placement {
 public:
  WorkerPool* pool_for(Device, FnProperty) override { return nullptr; }
  WorkerPool* pool_to_help() override { return nullptr; }
  Workers workers_of(Device) override { return {}; }
  bool runs_cheap_on_pusher() const override { return true; }
  void join(int) override {}
};

// A pool whose threads start when it is first asked for. Thread-safe but for stop.
class LazyPool {
 public:
  template <class Name>
  WorkerPool* get(DependencyEngine& engine, int threads, Name name, StreamPriority priority) {
    if (WorkerPool* pool = running()) [[likely]]
      return pool;
    MutexLock lock(mutex_);
    if (running_.load(std::memory_order_relaxed) == nullptr) {  // the mutex orders it
      if (pool_ == nullptr) pool_ = std::make_unique<WorkerPool>(engine, name(), priority);
      pool_->start(threads);
      running_.store(pool_.get(), std::memory_order_release);
    }
    return pool_.get();
  }
  // Null until it is first asked for.
  WorkerPool* running() const {
    // Acquire pairs with the release above: the pool is fully built.
    return running_.load(std::memory_order_acquire);
  }
  void stop() {
    // Relaxed: nobody asks during a stop, and who does later is ordered after it by the engine's
    // gate.
    running_.store(nullptr, std::memory_order_relaxed);
    MutexLock lock(mutex_);
    if (pool_ != nullptr) pool_->stop();
  }

 private:
  std::atomic<WorkerPool*> running_{nullptr};
  Mutex mutex_;
  std::unique_ptr<WorkerPool> pool_ MX_GUARDED_BY(mutex_);
};

class SharedPlacement final : public Placement {
 public:
  SharedPlacement(DependencyEngine& engine, const EngineConfig& config)
      : engine_(engine), threads_(config.cpu_worker_nthreads) {}

  WorkerPool* pool_for(Device, FnProperty) override {
    return pool_.get(
        engine_, threads_, [] { return "mx-worker"; }, StreamPriority::kNormal);
  }
  WorkerPool* pool_to_help() override { return pool_.running(); }
  Workers workers_of(Device) override { return {pool_.running()}; }
  bool runs_cheap_on_pusher() const override { return false; }
  void join(int cpu_workers) override {
    pool_.stop();
    threads_ = cpu_workers;
  }

 private:
  DependencyEngine& engine_;
  int threads_;
  LazyPool pool_;
};

class DevicePlacement final : public Placement {
 public:
  DevicePlacement(DependencyEngine& engine, const EngineConfig& config)
      : engine_(engine),
        cpu_workers_(config.cpu_worker_nthreads),
        cpu_priority_workers_(config.cpu_priority_nthreads),
        gpu_workers_(config.gpu_worker_nthreads),
        gpu_copiers_(config.gpu_copy_nthreads) {}

  WorkerPool* pool_for(Device device, FnProperty property) override {
    return device.is_gpu() ? gpu_pool(device.id, property) : cpu_pool(property);
  }
  WorkerPool* pool_to_help() override { return cpu_.running(); }
  Workers workers_of(Device device) override {
    if (!device.is_gpu()) return {cpu_.running(), cpu_priority_.running()};
    Gpu& gpu = gpus_.at(static_cast<std::size_t>(device.id));
    return {gpu.compute.running(), gpu.copy.running(), gpu.priority.running()};
  }
  bool runs_cheap_on_pusher() const override { return true; }
  void join(int cpu_workers) override {
    cpu_.stop();
    cpu_priority_.stop();
    for (Gpu& gpu : gpus_) {
      gpu.compute.stop();
      gpu.copy.stop();
      gpu.priority.stop();
    }
    cpu_workers_ = cpu_workers;
  }

 private:
  static constexpr int kMostGpus = 64;  // the limit of MXNET_SIM_GPUS; a machine has at most 16
  struct Gpu {
    LazyPool compute, copy, priority;
  };

  WorkerPool* cpu_pool(FnProperty property) {
    constexpr StreamPriority kNone = StreamPriority::kNormal;
    if (property == FnProperty::kCPUPrioritized) {
      return cpu_priority_.get(
          engine_, cpu_priority_workers_, [] { return "mx-cpu-prio"; }, kNone);
    }
    return cpu_.get(
        engine_, cpu_workers_, [] { return "mx-cpu"; }, kNone);
  }

  WorkerPool* gpu_pool(int id, FnProperty property) {
    if (id < 0 || id >= kMostGpus) {
      throw Error(ErrorCode::kValue, kEngineTag,
                  fmt::format("given device gpu({}), expected 0 <= id < {}", id, kMostGpus));
    }
    Gpu& gpu = gpus_[static_cast<std::size_t>(id)];
    const auto name = [id](const char* kind) {
      return [id, kind] { return fmt::format("mx-gpu{}{}", id, kind); };
    };
    switch (property) {
      case FnProperty::kCopyFromGPU:
      case FnProperty::kCopyToGPU:
        return gpu.copy.get(engine_, gpu_copiers_, name("-copy"), StreamPriority::kHigh);
      case FnProperty::kGPUPrioritized:
        return gpu.priority.get(engine_, gpu_workers_, name("-prio"), StreamPriority::kHigh);
      default:
        return gpu.compute.get(engine_, gpu_workers_, name(""), StreamPriority::kNormal);
    }
  }

  DependencyEngine& engine_;
  int cpu_workers_;
  const int cpu_priority_workers_, gpu_workers_, gpu_copiers_;
  LazyPool cpu_, cpu_priority_;
  std::array<Gpu, kMostGpus> gpus_;
};

}  // namespace

std::unique_ptr<Placement> make_caller_placement() { return std::make_unique<CallerPlacement>(); }
std::unique_ptr<Placement> make_shared_placement(DependencyEngine& engine,
                                                 const EngineConfig& config) {
  return std::make_unique<SharedPlacement>(engine, config);
}
std::unique_ptr<Placement> make_device_placement(DependencyEngine& engine,
                                                 const EngineConfig& config) {
  return std::make_unique<DevicePlacement>(engine, config);
}

}  // namespace mxnet::engine
