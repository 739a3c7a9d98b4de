// SPDX-License-Identifier: Apache-2.0
// Staging a call through pinned memory.
#include "exec/run_on_host.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/error.h"
#include "base/leaked.h"
#include "base/lock.h"
#include "base/log.h"
#include "device/sim/sim_control.h"
#include "exec/capture_scope.h"
#include "exec/pooled_resources.h"
#include "op/inline_vector.h"
#include "op/run/accumulate.h"

namespace mxnet {
namespace {

bool gpu_is_simulated() {
  static const bool simulated = sim_control(device_api(DeviceType::kGPU)) != nullptr;
  return simulated;
}

// Thread-safe.
class SaidOnce {
 public:
  void say(const OpDef& op) {
    const MutexLock lock(mutex_);
    if (!said_.insert(&op).second) return;
    log(LogLevel::kWarning,
        fmt::format("[{}] has no kernel for GPUs: it runs on the CPU, on copies of its arrays",
                    op.name()));
  }

 private:
  Mutex mutex_;
  std::unordered_set<const OpDef*> said_ MX_GUARDED_BY(mutex_);
};

// The arrays of one call in pinned memory. For one thread.
class Staging {
 public:
  explicit Staging(const RunContext& context)
      : context_(context), memory_(Device::cpu_pinned(context.device.id), nullptr) {}

  Tensor make(const NDArray& array) {
    return {memory_.workspace(array.bytes()), &array.shape(), array.dtype()};
  }
  Tensor fetch(const NDArray& array) {
    const Tensor tensor = make(array);
    if (void* data = array.data(); data != nullptr && array.bytes() > 0)
      stream().api().copy(tensor.data, kPinned, data, context_.device, array.bytes(),
                          stream().native());
    return tensor;
  }
  void store(const Tensor& tensor, const NDArray& array) {
    if (void* data = array.data(); data != nullptr && array.bytes() > 0)
      stream().api().copy(data, context_.device, tensor.data, kPinned, array.bytes(),
                          stream().native());
  }
  void wait() { stream().synchronize(); }
  KernelResources& resources() { return memory_; }

 private:
  static constexpr Device kPinned = Device::cpu_pinned();
  Stream& stream() { return *context_.stream; }

  const RunContext& context_;
  PooledResources memory_;
};

}  // namespace

bool runs_on_host(const KernelEntry& kernel, Device device) {
  return device.is_gpu() && kernel.device == DeviceType::kCPU && !gpu_is_simulated();
}

Device draws_from(const KernelEntry& kernel, Device device) {
  return runs_on_host(kernel, device) ? Device::cpu() : device;
}

void run_on_host(const KernelCall& call, const RunContext& context) {
  if (CaptureScope::current() != nullptr)
    throw Error(ErrorCode::kNotImplemented, call.op.name(),
                "given to a CUDA graph, expected an operator with a kernel for GPUs");
  static Leaked<SaidOnce> said;
  said->say(call.op);

  Staging staging(context);
  InlineVector<Tensor, 8> tensors;
  for (std::size_t i = 0; i < call.in.size(); ++i)
    tensors.push_back(call.op.type_only(static_cast<int>(i))
                          ? Tensor{nullptr, &call.in[i]->shape(), call.in[i]->dtype()}
                          : staging.fetch(*call.in[i]));
  for (const NDArray* out : call.out) tensors.push_back(staging.make(*out));
  const std::span<const Tensor> all = tensors.span();
  const std::span<const Tensor> in = all.first(call.in.size()), results = all.subspan(in.size());
  const auto request_of = [&](std::size_t o) {
    return call.requests.empty() ? Request::kWrite : call.requests[o];
  };
  InlineVector<Tensor, 8> targets;  // what results are added to
  for (std::size_t o = 0; o < call.out.size(); ++o)
    targets.push_back(request_of(o) == Request::kAdd ? staging.fetch(*call.out[o]) : results[o]);
  staging.wait();

  KernelContext kernel_context(in, results, Device::cpu(), nullptr, call.training,
                               staging.resources());
  call.kernel.run(call.params, kernel_context);

  for (const int i : call.op.mutated_inputs(call.params))
    staging.store(in[static_cast<std::size_t>(i)], *call.in[static_cast<std::size_t>(i)]);
  for (std::size_t o = 0; o < call.out.size(); ++o) {
    const Tensor& target = targets.span()[o];
    if (request_of(o) == Request::kNull) continue;
    if (request_of(o) == Request::kAdd) accumulate(target, results[o]);
    staging.store(target, *call.out[o]);
  }
  staging.wait();  // before the pinned memory is somebody else's
}

}  // namespace mxnet
