// SPDX-License-Identifier: Apache-2.0
// From a convolution to the plan that runs it: cuDNN's offers, the policy's choice, timed on the
// arrays of the first call.
#include "plugin/cuda/dnn/convolver.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/dnn/convolution_key.h"
#include "plugin/cuda/dnn/engine_cache.h"
#include "plugin/cuda/dnn/stopwatch.h"
#include "plugin/cuda/dnn/trial_memory.h"
#include "plugin/cuda/handles.h"
#include "plugin/cuda/launch.h"
#include "plugin/cuda/of_device.h"
#include "plugin/cuda/tensor_cores.h"

namespace mxnet::cuda {
namespace {

constexpr std::size_t kMostPlans = 1024;  // images of any size make new ones

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

EngineCache& engine_cache() {
  static auto* const cache = new EngineCache(DiskCache::configured());
  return *cache;
}

// The convolutions of one device. Thread-safe: plans are made by one call at a time, so that the
// times of engines are their own; launches wait for each other only where they use one plan.
// Who makes one asks for memory with the table locked. On a full device that waits for work that
// streams have (storage/pool_refill.cc), never for another thread, which might want the table.
class Convolver {
 public:
  Convolver() {
    cudaDeviceProp properties{};
    MX_CUDA_CALL(cudaGetDeviceProperties(&properties, current_device()));
    gpu_ = properties.name;
  }
  void run(const Convolution& convolution, const ConvolutionTuning& tuning,
           const ConvolutionArrays& arrays, const std::function<void()>& apply_steps,
           KernelContext& context, cudaStream_t stream) {
    const CudnnHandles::Lent handle(handles_, stream);
    TrialMemory memory;
    const Call call{tuning, arrays, apply_steps, context, handle.get(), stream, memory};
    const Plan plan = plan_for(convolution, call);
    // A graph names kernels that a plan has loaded; the table may forget the plan before.
    CudaStream::use(plan.engine);
    launch(plan, call, workspace_for(plan, call));
  }

 private:
  using PlanRef = std::shared_ptr<const InTurns<ConvolutionPlan>>;
  struct Plan {
    PlanRef engine;
    bool at_once;  // with all steps
  };
  struct Call {
    const ConvolutionTuning& tuning;
    const ConvolutionArrays& arrays;
    const std::function<void()>& apply_steps;
    KernelContext& context;
    cudnnHandle_t handle;
    cudaStream_t stream;
    TrialMemory& memory;

    ConvolutionArrays without_steps() const { return {arrays.data, arrays.weight, arrays.output}; }
    // For one engine at a time.
    void* workspace(std::size_t bytes) const {
      memory.rewind();
      return memory.take(bytes, [&](std::size_t more) { return context.workspace(more); });
    }
  };

  Plan plan_for(const Convolution& convolution, const Call& call) {
    EnginePolicy policy = engine_policy(config().cuda, convolution.pass, asked(call.tuning.tune),
                                        call.tuning.workspace_mib);
    thread_local PlanKey key;
    set_plan_key(convolution, policy, &key);
    // The host may not wait while a graph is being recorded: no times then. (The plan of the run
    // before may have made room for others.)
    if (CudaStream::records()) {
      if (const std::optional<Plan> kept = plans_.find(key)) return *kept;
      policy.autotune = Autotune::kHeuristics;
      set_plan_key(convolution, policy, &key);
    }
    return plans_.get(key, [&] { return make(convolution, policy, call); });
  }
  std::string key_of(const Convolution& convolution, const EnginePolicy& policy) const {
    return choice_key(gpu_, static_cast<int64_t>(Cudnn::get().version()), convolution.to_string(),
                      policy);
  }

  // Engines that take steps are compiled when first used, and not always faster than a convolution
  // and a kernel of ours: only times decide for them, and no times where results must repeat.
  Plan make(const Convolution& convolution, const EnginePolicy& policy, const Call& call) const {
    Plan apart{choose_some(convolution.alone(), policy, call), false};
    if (!convolution.has_steps() || policy.autotune == Autotune::kHeuristics ||
        policy.deterministic)
      return apart;
    try {
      const Plan at_once{choose(convolution, policy, call, call.arrays), true};
      const auto time = [&](const Plan& plan) {
        void* const workspace = workspace_for(plan, call);
        return Stopwatch(call.stream).fastest([&] { launch(plan, call, workspace); });
      };
      const double together = time(at_once), both = time(apart);
      if (policy.verbose > 0)
        log(LogLevel::kInfo,
            fmt::format("{}: {:.3f} ms at once, {:.3f} ms with a kernel for the rest",
                        convolution.to_string(), together, both));
      return together < both ? at_once : apart;
    } catch (const Error&) {  // cuDNN offers no such engine, or one that fails
      return apart;
    }
  }

  // A convolution alone, on tensor cores if a half type has it nowhere else.
  PlanRef choose_some(const Convolution& convolution, const EnginePolicy& policy,
                      const Call& call) const {
    try {
      return choose(convolution, policy, call, call.without_steps());
    } catch (const Error& error) {
      const bool half = dtype_size(convolution.dtype) == 2;
      const std::optional<EnginePolicy> wider = with_tensor_cores(policy);
      if (!half || !wider || error.code() != ErrorCode::kNotImplemented) throw;
      say_tensor_cores_all_the_same(error);
      return choose(convolution, *wider, call, call.without_steps());
    }
  }

  static PlanRef plan_of(cudnnHandle_t handle, Descriptor engine) {
    return std::make_shared<const InTurns<ConvolutionPlan>>(handle, std::move(engine));
  }
  static std::size_t workspace_bytes(const InTurns<ConvolutionPlan>& engine) {
    return engine.use([](const ConvolutionPlan& plan) { return plan.workspace_bytes(); });
  }
  static void run_engine(const InTurns<ConvolutionPlan>& engine, cudnnHandle_t handle,
                         const ConvolutionArrays& arrays, void* workspace) {
    engine.use([&](const ConvolutionPlan& plan) { plan.run(handle, arrays, workspace); });
  }
  static void* workspace_for(const Plan& plan, const Call& call) {
    return call.workspace(workspace_bytes(*plan.engine));
  }
  static void launch(const Plan& plan, const Call& call, void* workspace) {
    run_engine(*plan.engine, call.handle, plan.at_once ? call.arrays : call.without_steps(),
               workspace);
    if (!plan.at_once) call.apply_steps();
  }

  // The plans of what is permitted, in the order of the offers. An engine that does not support the
  // convolution after all has none.
  static std::vector<PlanRef> build(cudnnHandle_t handle, std::vector<OfferedEngine>* offers,
                                    const EnginePolicy& policy) {
    std::vector<PlanRef> plans(offers->size());
    const auto make = [&](std::size_t i) {
      EngineConfig& candidate = (*offers)[i].config;
      if (exclusion(candidate, policy)) return false;
      try {
        plans[i] = plan_of(handle, std::move((*offers)[i].descriptor));
      } catch (const Error&) {
        return false;
      }
      candidate.workspace = workspace_bytes(*plans[i]);
      return !exclusion(candidate, policy);
    };
    const auto begin = std::chrono::steady_clock::now();
    make_plans(offers->size(), policy, make, [begin] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    });
    return plans;
  }

  // The plan of what was chosen before, null where that is not among the offers, or does not run
  // any more: making the plans of all the others takes seconds for a network.
  PlanRef chosen_before(const Convolution& convolution, const EnginePolicy& policy,
                        cudnnHandle_t handle, std::vector<OfferedEngine>* offers) const {
    std::vector<EngineConfig> configs;
    for (const OfferedEngine& offer : *offers) configs.push_back(offer.config);
    const EngineChoice choice =
        engine_cache().kept(key_of(convolution, policy), convolution.to_string(), configs, policy);
    if (!choice.chosen || exclusion(configs[*choice.chosen], policy)) return nullptr;
    try {
      PlanRef plan = plan_of(handle, std::move((*offers)[*choice.chosen].descriptor));
      if (!choice.report.empty()) log(LogLevel::kInfo, choice.report);
      return plan;
    } catch (const Error&) {
      offers->erase(offers->begin() + static_cast<std::ptrdiff_t>(*choice.chosen));
      return nullptr;
    }
  }

  PlanRef choose(const Convolution& convolution, const EnginePolicy& policy, const Call& call,
                 const ConvolutionArrays& arrays) const {
    EngineOffers offered =
        offered_engines(call.handle, convolution_operations(convolution), config().cuda);
    std::vector<OfferedEngine>& offers = offered.engines;
    if (PlanRef plan = chosen_before(convolution, policy, call.handle, &offers)) return plan;
    std::vector<PlanRef> plans = build(call.handle, &offers, policy);
    // Only what can run takes part in the choice.
    std::vector<EngineConfig> candidates;
    std::vector<std::size_t> place;
    for (std::size_t i = 0; i < offers.size(); ++i) {
      if (plans[i] == nullptr || exclusion(offers[i].config, policy)) continue;
      candidates.push_back(offers[i].config);
      place.push_back(i);
    }
    Stopwatch stopwatch(call.stream);
    const auto time = [&](const EngineConfig& candidate) -> std::optional<double> {
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        if (candidates[c].engine != candidate.engine || candidates[c].knobs != candidate.knobs)
          continue;
        try {
          // More than the device has left counts against this candidate only.
          void* const workspace = call.workspace(candidate.workspace);
          return stopwatch.fastest(
              [&] { run_engine(*plans[place[c]], call.handle, arrays, workspace); });
        } catch (const Error& error) {
          if (error.code() == ErrorCode::kOutOfMemory) throw;
          return std::nullopt;
        }
      }
      return std::nullopt;
    };
    const EngineChoice choice = engine_cache().choose(
        key_of(convolution, policy), convolution.to_string(), candidates, policy, time);
    if (!choice.report.empty()) log(LogLevel::kInfo, choice.report);
    if (!choice.chosen && choice.no_room != nullptr) std::rethrow_exception(choice.no_room);
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
  PlanTable<Plan> plans_{kMostPlans};
};

}  // namespace

void run_convolution(NativeStream* stream, const Convolution& convolution,
                     const ConvolutionTuning& tuning, const ConvolutionArrays& arrays,
                     const std::function<void()>& apply_steps, KernelContext& context) {
  const LaunchScope scope(stream);
  of_current_device<Convolver>().run(convolution, tuning, arrays, apply_steps, context,
                                     scope.stream());
}

}  // namespace mxnet::cuda
