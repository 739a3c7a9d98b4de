// SPDX-License-Identifier: Apache-2.0
// From attention of one shape to the plan that runs it, or to none: cuDNN's offers, timed on the
// arrays of the first call beside the products and the softmax.
#include "plugin/cuda/dnn/attender.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "plugin/cuda/dnn/convolution.h"
#include "plugin/cuda/dnn/stopwatch.h"
#include "plugin/cuda/dnn/trial_memory.h"
#include "plugin/cuda/handles.h"
#include "plugin/cuda/launch.h"
#include "plugin/cuda/of_device.h"

namespace mxnet::cuda {
namespace {

// Sentences of any length make new ones, and each plan is compiled, which takes a good part of a
// second: from so many shapes on, those that are new run apart.
constexpr int kMostTried = 64;
constexpr std::size_t kMostPlans = 1024;  // most of them none

// No variable names engines of attention, and its workspace has no limit of its own.
EnginePolicy policy_of_now() {
  EnginePolicy policy = engine_policy(config().cuda, ConvPass::kForward, std::nullopt, 0);
  policy.disabled.clear();
  if (policy.autotune == Autotune::kFastestWithinLimit) policy.autotune = Autotune::kFastest;
  return policy;
}

bool all_aligned(const AttentionArrays& arrays) {
  const void* const each[] = {arrays.queries, arrays.keys, arrays.values, arrays.output};
  return std::ranges::all_of(each, [](const void* array) {
    return reinterpret_cast<uintptr_t>(array) % kConvolutionAlignment == 0;
  });
}

// Attention on one device. Thread-safe, as convolutions are (convolver.cc).
class Attender {
 public:
  void run(const Attention& attention, const AttentionArrays& arrays,
           const std::function<void()>& apart, KernelContext& context, cudaStream_t stream) {
    const EnginePolicy policy = policy_of_now();
    // Only times decide for what is compiled when first used, and none where results must repeat.
    if (policy.autotune == Autotune::kHeuristics || policy.deterministic || !all_aligned(arrays))
      return apart();
    thread_local PlanKey key;
    attention.set_key(&key);
    key.insert(key.end(), {policy.tensor_core, policy.reduced_precision_reduction});
    TrialMemory memory;
    const Call call{attention, arrays, apart, context, stream, memory};
    // The host may not wait while a graph is being recorded: no times are taken then.
    const Plan plan = CudaStream::records() ? plans_.find(key).value_or(nullptr)
                                            : plans_.get(key, [&] { return make(policy, call); });
    if (plan == nullptr) return apart();
    CudaStream::use(plan);
    const CudnnHandles::Lent handle(handles_, stream);
    launch(*plan, handle.get(), call, call.workspace(bytes_of(*plan)));
  }

 private:
  using Plan = std::shared_ptr<const InTurns<AttentionPlan>>;  // null: apart
  struct Call {
    const Attention& attention;
    const AttentionArrays& arrays;
    const std::function<void()>& apart;
    KernelContext& context;
    cudaStream_t stream;
    TrialMemory& memory;

    // For one engine at a time.
    void* workspace(std::size_t bytes) const {
      memory.rewind();
      return memory.take(bytes, [&](std::size_t more) { return context.workspace(more); });
    }
  };

  static std::size_t bytes_of(const InTurns<AttentionPlan>& engine) {
    return engine.use([](const AttentionPlan& plan) { return plan.workspace_bytes(); });
  }
  static void launch(const InTurns<AttentionPlan>& engine, cudnnHandle_t handle, const Call& call,
                     void* workspace) {
    engine.use([&](const AttentionPlan& plan) {
      plan.run(handle, call.arrays, call.attention.scale, workspace);
    });
  }

  Plan make(const EnginePolicy& policy, const Call& call) {
    const auto say = [&](const std::string& what) {
      if (policy.verbose > 0)
        log(LogLevel::kInfo, fmt::format("{}: {}", call.attention.to_string(), what));
    };
    // Relaxed: a count, in relation to nothing else.
    if (tried_.fetch_add(1, std::memory_order_relaxed) >= kMostTried) {
      say("apart, one shape too many");
      return nullptr;
    }
    try {
      const CudnnHandles::Lent handle(handles_, call.stream);
      const auto [plan, together] = fastest(policy, handle.get(), call);
      if (plan == nullptr) {
        say("apart, cuDNN offers no engine that is permitted");
        return nullptr;
      }
      const std::optional<double> both = milliseconds_apart(call);
      say(fmt::format("{:.3f} ms at once, {} apart", together,
                      both ? fmt::format("{:.3f} ms", *both) : "no room"));
      return both && *both <= together ? nullptr : plan;
    } catch (const Error& error) {  // no library, an older one, or nothing for this GPU
      say("apart: " + error.message());
      return nullptr;
    }
  }

  static std::pair<Plan, double> fastest(const EnginePolicy& policy, cudnnHandle_t handle,
                                         const Call& call) {
    EngineOffers offered =
        offered_engines(handle, attention_operations(call.attention), config().cuda);
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [begin] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    Stopwatch stopwatch(call.stream);
    std::pair<Plan, double> best{nullptr, 0};
    const auto time = [&](std::size_t i) {
      OfferedEngine& offer = offered.engines[i];
      if (exclusion(offer.config, policy)) return false;
      try {
        auto plan =
            std::make_shared<const InTurns<AttentionPlan>>(handle, std::move(offer.descriptor));
        void* const workspace = call.workspace(bytes_of(*plan));
        const double taken = stopwatch.fastest([&] { launch(*plan, handle, call, workspace); });
        if (best.first == nullptr || taken < best.second) best = {std::move(plan), taken};
        return true;
      } catch (const Error&) {  // does not run, or finds no room
        return false;
      }
    };
    make_plans(offered.engines.size(), policy, time, seconds);
    return best;
  }

  // Nothing where the device has no room for the weights.
  static std::optional<double> milliseconds_apart(const Call& call) {
    try {
      return Stopwatch(call.stream).fastest(call.apart);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfMemory) throw;
      return std::nullopt;
    }
  }

  CudnnHandles handles_;
  PlanTable<Plan> plans_{kMostPlans};
  std::atomic<int> tried_{0};
};

}  // namespace

void attend(NativeStream* stream, const Attention& attention, const AttentionArrays& arrays,
            const std::function<void()>& apart, KernelContext& context) {
  const LaunchScope scope(stream);
  of_current_device<Attender>().run(attention, arrays, apart, context, scope.stream());
}

}  // namespace mxnet::cuda
