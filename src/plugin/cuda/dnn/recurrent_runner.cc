// SPDX-License-Identifier: Apache-2.0
// The plans of each device, by shape.
#include "plugin/cuda/dnn/recurrent_runner.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/dnn/plan_table.h"
#include "plugin/cuda/handles.h"
#include "plugin/cuda/launch.h"

namespace mxnet::cuda {
namespace {

class CudnnRunner : public RecurrentRunner {
 public:
  CudnnRunner(CudnnHandles& handles, cudaStream_t stream, const RecurrentShape& shape,
              const std::vector<WeightPart>& parts)
      : handles_(handles),
        plan_(CudnnHandles::Lent(handles, stream).get(), shape, parts),
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

  // Of the current device; lives as long as the process.
  static Networks& current() {
    const int device = current_device();
    static Mutex mutex;
    static auto* const all = new std::map<int, Networks>;
    MutexLock lock(mutex);
    return (*all)[device];
  }

  Runner get(cudaStream_t stream, const RecurrentShape& shape,
             const std::vector<WeightPart>& parts) {
    const std::string key = shape.to_string();
    MutexLock lock(mutex_);
    if (const auto at = runners_.find(key); at != runners_.end()) return at->second;
    return runners_.emplace(key, make(stream, shape, parts)).first->second;
  }

 private:
  Runner make(cudaStream_t stream, const RecurrentShape& shape,
              const std::vector<WeightPart>& parts) {
    try {
      return std::make_shared<const CudnnRunner>(handles_, stream, shape, parts);
    } catch (const Error& error) {
      log(LogLevel::kInfo, fmt::format("RNN: {} is computed step by step, without cuDNN: {}",
                                       shape.to_string(), error.message()));
      return nullptr;
    }
  }

  CudnnHandles handles_;
  Mutex mutex_;
  std::map<std::string, Runner> runners_ MX_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<const RecurrentRunner> recurrent_runner(NativeStream* stream,
                                                        const RecurrentShape& shape,
                                                        const std::vector<WeightPart>& parts) {
  const LaunchScope scope(stream);
  return Networks::current().get(scope.stream(), shape, parts);
}

}  // namespace mxnet::cuda
