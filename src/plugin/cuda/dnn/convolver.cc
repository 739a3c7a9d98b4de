// SPDX-License-Identifier: Apache-2.0
// From a convolution to the plan that runs it: cuDNN's offers, the policy's choice, timed on the
// arrays of the first call.
#include "plugin/cuda/dnn/convolver.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/dnn/engine_cache.h"
#include "plugin/cuda/handles.h"
#include "plugin/cuda/launch.h"

namespace mxnet::cuda {
namespace {

constexpr std::size_t kMostPlans = 1024;  // images of any size make new ones
constexpr int kTimedRuns = 3;             // the fastest counts

std::optional<Autotune> asked(int tune) {
  switch (tune) {
    case 1:
      return Autotune::kFastest;
    case 2:
      return Autotune::kFastestWithinLimit;
    case 3:
      return Autotune::kHeuristics;
    default:
      return std::nullopt;
  }
}

struct Arrays {
  void *data, *weight, *output;
};

// Milliseconds of the fastest of some runs on `stream`.
class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
    MX_CUDA_CALL(cudaEventCreate(&begin_));
    if (cudaEventCreate(&end_) != cudaSuccess) {
      cudaEventDestroy(begin_);
      throw Error(ErrorCode::kGeneric, "cuda", "given a convolution to time, expected an event");
    }
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  template <class Run>
  double fastest(const Run& run) {
    run();  // loads the kernel
    float best = 0;
    for (int i = 0; i < kTimedRuns; ++i) {
      MX_CUDA_CALL(cudaEventRecord(begin_, stream_));
      run();
      MX_CUDA_CALL(cudaEventRecord(end_, stream_));
      MX_CUDA_CALL(cudaEventSynchronize(end_));
      float milliseconds = 0;
      MX_CUDA_CALL(cudaEventElapsedTime(&milliseconds, begin_, end_));
      if (i == 0 || milliseconds < best) best = milliseconds;
    }
    return best;
  }

 private:
  const cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

EngineCache& engine_cache() {
  static auto* const cache = new EngineCache(DiskCache::configured());
  return *cache;
}

// The convolutions of one device. Thread-safe: plans are made by one call at a time, so that the
// times of engines are their own; launches do not wait for each other.
class Convolver {
 public:
  Convolver() {
    int device = 0;
    MX_CUDA_CALL(cudaGetDevice(&device));
    cudaDeviceProp properties{};
    MX_CUDA_CALL(cudaGetDeviceProperties(&properties, device));
    gpu_ = properties.name;
  }
  // Of the current device; lives as long as the process.
  static Convolver& current() {
    int device = 0;
    MX_CUDA_CALL(cudaGetDevice(&device));
    static Mutex mutex;
    static auto* const all = new std::map<int, Convolver>;
    MutexLock lock(mutex);
    return (*all)[device];
  }

  void run(const Convolution& convolution, const ConvolutionTuning& tuning, const Arrays& arrays,
           KernelContext& context, CudaStream& on) {
    const CudnnHandles::Lent handle(handles_, on.handle());
    const PlanRef plan = plan_for(convolution, tuning, arrays, context, handle.get(), on.handle());
    // A graph names kernels that a plan has loaded; the table may forget the plan before.
    on.use(plan);
    const std::size_t bytes = plan->workspace_bytes();
    launch(handle.get(), *plan, arrays, bytes == 0 ? nullptr : context.workspace(bytes));
  }

 private:
  using PlanRef = std::shared_ptr<const ConvolutionPlan>;

  PlanRef plan_for(const Convolution& convolution, const ConvolutionTuning& tuning,
                   const Arrays& arrays, KernelContext& context, cudnnHandle_t handle,
                   cudaStream_t stream) {
    const EnginePolicy policy =
        engine_policy(config().cuda, convolution.pass, asked(tuning.tune), tuning.workspace_mib);
    const std::string key = choice_key(gpu_, static_cast<int64_t>(Cudnn::get().version()),
                                       convolution.to_string(), policy);
    MutexLock lock(mutex_);
    auto at = plans_.find(key);
    if (at == plans_.end()) {
      if (plans_.size() == kMostPlans) plans_.clear();
      at = plans_.emplace(key, choose(key, convolution, policy, arrays, context, handle, stream))
               .first;
    }
    return at->second;
  }

  static void launch(cudnnHandle_t handle, const ConvolutionPlan& plan, const Arrays& arrays,
                     void* workspace) {
    plan.run(handle, arrays.data, arrays.weight, arrays.output, workspace);
  }

  // The plans of what is permitted, in the order of the offers; without times to take, of the first
  // that fits. An engine that does not support the convolution after all has none.
  static std::vector<PlanRef> build(cudnnHandle_t handle, std::vector<OfferedEngine>* offers,
                                    const EnginePolicy& policy) {
    std::vector<PlanRef> plans(offers->size());
    for (std::size_t i = 0; i < offers->size(); ++i) {
      EngineConfig& candidate = (*offers)[i].config;
      if (exclusion(candidate, policy)) continue;
      try {
        plans[i] =
            std::make_shared<const ConvolutionPlan>(handle, std::move((*offers)[i].descriptor));
      } catch (const Error&) {
        continue;
      }
      candidate.workspace = plans[i]->workspace_bytes();
      if (policy.autotune == Autotune::kHeuristics && !exclusion(candidate, policy)) break;
    }
    return plans;
  }

  static PlanRef choose(const std::string& key, const Convolution& convolution,
                        const EnginePolicy& policy, const Arrays& arrays, KernelContext& context,
                        cudnnHandle_t handle, cudaStream_t stream) {
    EngineOffers offered =
        offered_engines(handle, convolution_operation(convolution), config().cuda);
    std::vector<OfferedEngine>& offers = offered.engines;
    std::vector<PlanRef> plans = build(handle, &offers, policy);
    // Only what can run takes part in the choice.
    std::vector<EngineConfig> candidates;
    std::vector<std::size_t> place;
    for (std::size_t i = 0; i < offers.size(); ++i) {
      if (plans[i] == nullptr || exclusion(offers[i].config, policy)) continue;
      candidates.push_back(offers[i].config);
      place.push_back(i);
    }
    void* workspace = nullptr;
    std::size_t room = 0;  // bytes of it
    Stopwatch stopwatch(stream);
    const auto time = [&](const EngineConfig& candidate) -> std::optional<double> {
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        if (candidates[c].engine != candidate.engine || candidates[c].knobs != candidate.knobs)
          continue;
        try {
          // More than the device has left counts against this candidate only.
          if (candidate.workspace > room) {
            workspace = context.workspace(candidate.workspace);
            room = candidate.workspace;
          }
          return stopwatch.fastest([&] { launch(handle, *plans[place[c]], arrays, workspace); });
        } catch (const Error&) {
          return std::nullopt;
        }
      }
      return std::nullopt;
    };
    const EngineChoice choice =
        engine_cache().choose(key, convolution.to_string(), candidates, policy, time);
    if (!choice.report.empty()) log(LogLevel::kInfo, choice.report);
    if (!choice.chosen) {
      throw Error(ErrorCode::kNotImplemented, "Convolution",
                  fmt::format("given {}, for which cuDNN offers {} engines, of which the "
                              "MXNET_CUDNN_* variables permit none that runs",
                              convolution.to_string(), offers.size()));
    }
    return std::move(plans[place[*choice.chosen]]);
  }

  std::string gpu_;
  CudnnHandles handles_;
  Mutex mutex_;
  std::map<std::string, PlanRef> plans_ MX_GUARDED_BY(mutex_);
};

}  // namespace

void run_convolution(NativeStream* stream, const Convolution& convolution,
                     const ConvolutionTuning& tuning, void* data, void* weight, void* output,
                     KernelContext& context) {
  const LaunchScope scope(stream);
  Convolver::current().run(convolution, tuning, {data, weight, output}, context,
                           *CudaStream::from(stream));
}

}  // namespace mxnet::cuda
