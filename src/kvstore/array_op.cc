// SPDX-License-Identifier: Apache-2.0
// Variables, simulated devices and small work around a body.
#include "kvstore/array_op.h"

#include <algorithm>
#include <exception>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "device/sim/sim_control.h"
#include "device/sim/sim_translate.h"
#include "engine/engine.h"
#include "engine/fences.h"
#include "exec/pooled_resources.h"
#include "op/run/gpu_service.h"
#include "op/run/gpu_table.h"

namespace mxnet::kvstore {
namespace {

// Bytes of all arrays up to which the pusher does the work itself: about a worker's wake-up.
constexpr std::size_t kInlineBytes = 65536;

using Reach = void* (*)(void* data, std::size_t bytes);

Addresses addresses(const ArrayOp& op, Reach reach) {
  const auto address = [&](const NDArray& array) {
    void* data = array.data();
    return data == nullptr ? nullptr : reach(data, array.bytes());
  };
  Addresses result;
  for (const NDArray& array : op.reads) result.reads.push_back(address(array));
  for (const NDArray& array : op.writes) result.writes.push_back(address(array));
  return result;
}

// In the order of the stream, as a kernel of the simulated device.
void run_simulated(const ArrayOp& op, const std::function<void(const Addresses&)>& body,
                   Stream& stream) {
  // Memory is taken here: the simulator may not be called from inside itself.
  for (const NDArray& array : op.reads) array.data();
  for (const NDArray& array : op.writes) array.data();
  std::exception_ptr error;
  stream.api().host_call(stream.device(), stream.native(), [&] {
    try {
      body(addresses(op, [](void* data, std::size_t n) { return sim_translate(data, n); }));
    } catch (...) {
      error = std::current_exception();
    }
  });
  stream.synchronize();
  if (error) std::rethrow_exception(error);
}

// Orders the operations that are to run one after the other.
Var* serial_var() {
  static Var* const var = Engine::get().new_order_variable();
  return var;
}

void push(SyncFn fn, const ArrayOp& op) {
  std::vector<Var*> reads, writes;
  std::size_t bytes = 0;
  bool sparse = false;
  const auto take = [&](const NDArray& array, std::vector<Var*>& vars) {
    vars.push_back(array.var());
    bytes += array.bytes();
    sparse |= array.is_sparse();
  };
  for (const NDArray& array : op.reads) take(array, reads);
  for (const NDArray& array : op.writes) take(array, writes);
  // What is only written is written whole: what failed there before is of no interest.
  for (Var* var : writes) {
    if (std::find(reads.begin(), reads.end(), var) == reads.end())
      Engine::get().forget_failure(var);
  }
  if (op.serial) writes.push_back(serial_var());
  dedup_variables(&reads, &writes);
  const Device device = op.writes.empty() ? Device::cpu() : op.writes.front().device();
  const bool cheap = !sparse && !device.is_gpu() && bytes <= kInlineBytes;
  Engine::get().push(
      std::move(fn),
      {.device = device,
       .reads = reads,
       .writes = writes,
       .property = device.is_gpu() || cheap ? FnProperty::kNormal : FnProperty::kCPUPrioritized,
       .priority = op.priority,
       .name = op.name,
       .cheap = cheap});
}

// The plug-in's kernel, which leaves its work on the stream.
void push_kernel(ArrayOp op) {
  const GpuKernelRow* kernel = gpu_service(op.name);
  if (kernel == nullptr) {
    throw Error(ErrorCode::kNotImplemented, "kvstore",
                fmt::format("{}: given arrays on {}, expected arrays in host memory: there is no "
                            "kernel for this on a GPU",
                            op.name, to_string(op.writes.front().device())));
  }
  const auto shared = std::make_shared<const ArrayOp>(std::move(op));
  push(
      [shared, kernel](const RunContext& context) {
        const auto tensors = [](const std::vector<NDArray>& arrays) {
          std::vector<Tensor> result;
          result.reserve(arrays.size());
          for (const NDArray& array : arrays)
            result.push_back({array.data(), &array.shape(), array.dtype()});
          return result;
        };
        const std::vector<Tensor> in = tensors(shared->reads), out = tensors(shared->writes);
        PooledResources resources(context.device, context.stream);
        KernelContext call(in, out, context.device, context.stream, false, resources);
        kernel->run(shared->params.get(), call);
        engine::complete_by_event();
      },
      *shared);
}

}  // namespace

void push_dense(ArrayOp op, std::function<void(const Addresses&)> body) {
  if (op.writes.front().device().is_gpu() && sim_control(device_api(DeviceType::kGPU)) == nullptr)
    return push_kernel(std::move(op));
  const auto shared = std::make_shared<const ArrayOp>(std::move(op));
  push(
      [shared, body = std::move(body)](const RunContext& context) {
        if (context.stream != nullptr) return run_simulated(*shared, body, *context.stream);
        body(addresses(*shared, [](void* data, std::size_t) { return data; }));
      },
      *shared);
}

void push_on_host(ArrayOp op,
                  std::function<void(std::span<const NDArray>, std::span<const NDArray>)> body) {
  const auto shared = std::make_shared<const ArrayOp>(std::move(op));
  push([shared, body = std::move(body)](const RunContext&) { body(shared->reads, shared->writes); },
       *shared);
}

}  // namespace mxnet::kvstore
