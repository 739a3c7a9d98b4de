// SPDX-License-Identifier: Apache-2.0
// The plans of each device, by shape.
#include "plugin/cuda/dnn/recurrent_runner.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/dnn/plan_table.h"
#include "plugin/cuda/dnn/stopwatch.h"
#include "plugin/cuda/dnn/trial_memory.h"
#include "plugin/cuda/handles.h"
#include "plugin/cuda/launch.h"
#include "plugin/cuda/of_device.h"

namespace mxnet::cuda {
namespace {

const char* name_of(RecurrentWay way) {
  return way == RecurrentWay::kStandard     ? "standard"
         : way == RecurrentWay::kPersistent ? "persistent"
                                            : "persistent, small";
}

// A network's arrays, all zeros, to try its ways with.
class Trial {
 public:
  // `keeps`: of both passes; else of a forward pass that keeps nothing.
  Trial(cudnnHandle_t handle, cudaStream_t stream, const RecurrentShape& shape,
        const std::vector<WeightPart>& parts, bool keeps, KernelContext& context)
      : handle_(handle),
        stream_(stream),
        shape_(shape),
        parts_(parts),
        keeps_(keeps),
        context_(context) {}

  double milliseconds(RecurrentWay way) {
    memory_.rewind();
    const RecurrentPlan plan(handle_, shape_, way, parts_);
    const RecurrentSizes& sizes = plan.sizes();
    const int64_t rows = shape_.steps * shape_.batch, states = shape_.places() * shape_.batch;
    const auto array = [&](int64_t elements) {
      return zeros(static_cast<std::size_t>(elements) * dtype_size(shape_.dtype));
    };
    const auto state = [&] { return array(states * shape_.out); };
    const auto cell = [&] { return shape_.has_cell() ? array(states * shape_.hidden) : nullptr; };
    const RecurrentForward forward{
        .x = array(rows * shape_.input),
        .hx = state(),
        .cx = cell(),
        .weights = zeros(sizes.weights),
        .y = array(rows * shape_.width()),
        .hy = state(),
        .cy = cell(),
        .workspace = zeros(keeps_ ? sizes.workspace : sizes.inference_workspace),
        .kept = keeps_ ? zeros(sizes.kept) : nullptr};
    RecurrentBackward backward{};
    if (keeps_)
      backward = {.x = forward.x,
                  .hx = forward.hx,
                  .cx = forward.cx,
                  .weights = forward.weights,
                  .y = forward.y,
                  .dy = array(rows * shape_.width()),
                  .dhy = state(),
                  .dcy = cell(),
                  .dx = array(rows * shape_.input),
                  .dhx = state(),
                  .dcx = cell(),
                  .dweights = zeros(sizes.weights),
                  .workspace = forward.workspace,
                  .kept = forward.kept};
    return Stopwatch(stream_).fastest([&] {
      plan.forward(handle_, {}, forward);
      if (keeps_) plan.backward(handle_, {}, backward);
    });
  }

 private:
  void* zeros(std::size_t bytes) {
    void* const data =
        memory_.take(bytes, [&](std::size_t more) { return context_.workspace(more); });
    if (bytes > 0) MX_CUDA_CALL(cudaMemsetAsync(data, 0, bytes, stream_));
    return data;
  }

  const cudnnHandle_t handle_;
  const cudaStream_t stream_;
  const RecurrentShape& shape_;
  const std::vector<WeightPart>& parts_;
  const bool keeps_;
  KernelContext& context_;
  TrialMemory memory_;
};

// Of a network that the library has in the standard way.
RecurrentWay way_of(CudnnHandles& handles, cudaStream_t stream, const RecurrentShape& shape,
                    const std::vector<WeightPart>& parts, bool keeps, KernelContext& context) {
  const bool trials = config().cuda.cudnn_autotune_default != 0 && !CudaStream::records();
  const CudnnHandles::Lent handle(handles, stream);
  Trial trial(handle.get(), stream, shape, parts, keeps, context);
  std::string said;
  const RecurrentWay way = fastest_way(recurrent_ways(shape, trials), [&](RecurrentWay each) {
    const double taken = trial.milliseconds(each);
    said += fmt::format(" {} {:.3f} ms,", name_of(each), taken);
    return taken;
  });
  if (config().cuda.cudnn_algo_verbose_level > 0)
    log(LogLevel::kInfo, fmt::format("RNN: {}, {}:{} * {}", shape.to_string(),
                                     keeps ? "training" : "inference", said, name_of(way)));
  return way;
}

class CudnnRunner : public RecurrentRunner {
 public:
  CudnnRunner(CudnnHandles& handles, cudaStream_t stream, const RecurrentShape& shape,
              RecurrentWay way, const std::vector<WeightPart>& parts)
      : handles_(handles),
        plan_(CudnnHandles::Lent(handles, stream).get(), shape, way, parts),
        sizes_(plan_.use([](const RecurrentPlan& plan) { return plan.sizes(); })) {}

  const RecurrentSizes& sizes() const override { return sizes_; }
  void forward(NativeStream* stream, const std::vector<int32_t>& lengths,
               const RecurrentForward& arrays, KernelContext&) const override {
    const LaunchScope scope(stream);
    const CudnnHandles::Lent handle(handles_, scope.stream());
    plan_.use([&](const RecurrentPlan& plan) { plan.forward(handle.get(), lengths, arrays); });
  }
  void backward(NativeStream* stream, const std::vector<int32_t>& lengths,
                const RecurrentBackward& arrays, KernelContext&) const override {
    const LaunchScope scope(stream);
    const CudnnHandles::Lent handle(handles_, scope.stream());
    plan_.use([&](const RecurrentPlan& plan) { plan.backward(handle.get(), lengths, arrays); });
  }

 private:
  CudnnHandles& handles_;
  const InTurns<RecurrentPlan> plan_;
  const RecurrentSizes sizes_;
};

// The networks of one device. Thread-safe. No shape is forgotten: what backward does with a reserve
// follows from what forward was told.
class Networks {
 public:
  using Runner = std::shared_ptr<const RecurrentRunner>;

  Runner get(cudaStream_t stream, const RecurrentShape& shape, const std::vector<WeightPart>& parts,
             bool keeps, KernelContext& context) {
    const std::pair key{shape.to_string(), keeps};
    MutexLock lock(mutex_);
    if (const auto at = runners_.find(key); at != runners_.end()) return at->second;
    return runners_.emplace(key, make(stream, shape, parts, keeps, context)).first->second;
  }

 private:
  Runner make(cudaStream_t stream, const RecurrentShape& shape,
              const std::vector<WeightPart>& parts, bool keeps, KernelContext& context) {
    try {
      auto runner = std::make_shared<const CudnnRunner>(handles_, stream, shape,
                                                        RecurrentWay::kStandard, parts);
      const RecurrentWay way = way_of(handles_, stream, shape, parts, keeps, context);
      if (way != RecurrentWay::kStandard)
        runner = std::make_shared<const CudnnRunner>(handles_, stream, shape, way, parts);
      return runner;
    } catch (const Error& error) {
      log(LogLevel::kInfo, fmt::format("RNN: {} is computed step by step, without cuDNN: {}",
                                       shape.to_string(), error.message()));
      return nullptr;
    }
  }

  CudnnHandles handles_;
  Mutex mutex_;
  std::map<std::pair<std::string, bool>, Runner> runners_ MX_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<const RecurrentRunner> recurrent_runner(KernelContext& context,
                                                        const RecurrentShape& shape,
                                                        const std::vector<WeightPart>& parts,
                                                        bool keeps) {
  const LaunchScope scope(context.stream()->native());
  return of_current_device<Networks>().get(scope.stream(), shape, parts, keeps, context);
}

}  // namespace mxnet::cuda
