// SPDX-License-Identifier: Apache-2.0
// Requests, aliasing and scratch memory around a kernel.
#include "exec/run_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "device/cpu/host_memory.h"
#include "device/sim/sim_translate.h"
#include "engine/fences.h"
#include "exec/capture_scope.h"
#include "exec/check_plain.h"
#include "exec/pooled_resources.h"
#include "exec/run_on_host.h"
#include "exec/shared_arrays.h"
#include "op/inline_vector.h"
#include "op/op_def.h"
#include "op/run/accumulate.h"
#include "op/run/adding.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

using Tensors = InlineVector<Tensor, 8>;

std::string type_list(std::span<const ArrayType> types) {
  std::string text;
  for (const ArrayType& type : types)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", dtype_name(type.dtype));
  return text;
}

// Whether output `o` may be written while the kernel still reads its inputs.
bool may_write_directly(const OpDef& op, InputRefs in, const NDArray& out, int o) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!overlap(*in[i], out) || op.type_only(static_cast<int>(i))) continue;
    const bool same_window = in[i]->offset() == out.offset() && in[i]->bytes() == out.bytes();
    if (!same_window || !op.may_share(static_cast<int>(i), o)) return false;
  }
  return true;
}

// The kernel that adds to the caller's array, if the one array is to be added to and there is one.
const AddingKernel* kernel_that_adds(const KernelCall& call) {
  if (call.kernel.device != DeviceType::kCPU || call.out.size() != 1 || call.requests.empty() ||
      call.requests[0] != Request::kAdd || !may_write_directly(call.op, call.in, *call.out[0], 0))
    return nullptr;
  return adding_kernel(call.op);
}

Request request_of(std::span<const Request> requests, std::size_t o) {
  return requests.empty() ? Request::kWrite : requests[o];
}

void copy_bytes(void* to, const void* from, std::size_t bytes) {
  parallel_for(static_cast<int64_t>(bytes), 0.125, [&](int64_t first, int64_t last) {
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first,
                static_cast<std::size_t>(last - first));
  });
}

// What one call of a kernel finds besides its tensors.
class CallResources final : public PooledResources {
 public:
  CallResources(const KernelCall& call, Device device, Stream* stream)
      : PooledResources(device, stream), call_(call) {}
  MadeOfValues* made_of(int i, uint64_t* version) override {
    const NDArray& array = *call_.in[static_cast<std::size_t>(i)];
    *version = Engine::get().version(array.var());
    return array.chunk()->made_of_values();
  }
  bool is_read(int i) const override {
    return !call_.hidden_unread || i < call_.op.num_visible_outputs(call_.params);
  }

 private:
  const KernelCall& call_;
};

// Where the kernel's thread finds an array's bytes; null: where they are.
using Reach = void* (*)(void* data, std::size_t bytes);

void* reach_array(const NDArray& array, Reach reach) {
  void* data = array.data();
  return data == nullptr || reach == nullptr ? data : reach(data, array.bytes());
}

// target += addend, or target = addend, in the order of the stream.
void settle_on_gpu(const RunContext& context, const Tensor& target, const Tensor& addend, bool add,
                   std::size_t bytes) {
  Stream& stream = *context.stream;
  if (add) return gpu_table()->accumulate(stream.native(), target, addend);
  stream.api().copy(target.data, context.device, addend.data, context.device, bytes,
                    stream.native());
}

// Brings what was computed aside to where the caller wants it.
void settle_results(const KernelCall& call, const RunContext& context,
                    std::span<const Tensor> results, Reach reach) {
  for (std::size_t o = 0; o < call.out.size(); ++o) {
    const NDArray& out = *call.out[o];
    const Request request = request_of(call.requests, o);
    void* data = reach_array(out, reach);
    if (request == Request::kNull || results[o].data == data) continue;
    const Tensor target{data, &out.shape(), out.dtype()};
    if (call.kernel.device == DeviceType::kGPU) {
      settle_on_gpu(context, target, results[o], request == Request::kAdd, out.bytes());
    } else if (request == Request::kAdd) {
      accumulate(target, results[o]);
    } else {
      copy_bytes(data, results[o].data, out.bytes());
    }
  }
}

bool makes_zeros(const OpDef& op) {
  const auto named = [](const char* name) { return Registry::get().find(name); };
  static const std::array ops{named("_zeros"), named("zeros_like"), named("_npi_zeros"),
                              named("_zeros_without_dtype")};
  return std::find(ops.begin(), ops.end(), &op) != ops.end();
}

// Whether the call was for zeros that are there without being written: gradients of a network that
// only infers take no memory.
bool found_zeros(const KernelCall& call) {
  if (call.out.size() != 1) return false;
  Chunk& chunk = *call.out[0]->chunk();
  if (chunk.allocated() || chunk.device().is_gpu() || !makes_zeros(call.op) ||
      request_of(call.requests, 0) != Request::kWrite)
    return false;
  const FreshMapping fresh;
  return fresh.is(chunk.data());
}

void run_here(const KernelCall& call, const RunContext& context, Reach reach) {
  if (found_zeros(call)) return;
  // A simulated device's kernels run in host memory, and so do their temporaries.
  const bool host = call.kernel.device == DeviceType::kCPU;
  CallResources resources(call, host ? Device::cpu() : context.device,
                          host ? nullptr : context.stream);
  Tensors tensors;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const NDArray& in = *call.in[i];
    void* data = call.op.type_only(static_cast<int>(i)) ? nullptr : reach_array(in, reach);
    tensors.push_back({data, &in.shape(), in.dtype()});
  }
  const AddingKernel* const adding = kernel_that_adds(call);
  bool settle = false;
  for (std::size_t o = 0; o < call.out.size(); ++o) {
    const NDArray& out = *call.out[o];
    const Request request = request_of(call.requests, o);
    const bool direct =
        adding != nullptr || (request != Request::kAdd && request != Request::kNull &&
                              may_write_directly(call.op, call.in, out, static_cast<int>(o)));
    settle |= !direct;
    void* data = direct ? reach_array(out, reach) : resources.workspace(out.bytes());
    tensors.push_back({data, &out.shape(), out.dtype()});
  }
  const std::span<const Tensor> all = tensors.span();
  const std::span<const Tensor> results = all.subspan(call.in.size());
  KernelContext kernel_context(all.first(call.in.size()), results, context.device, context.stream,
                               call.training, resources);
  if (adding != nullptr) return (*adding)(call.params, kernel_context);
  call.kernel.run(call.params, kernel_context);
  if (checks_plain(call, all.first(call.in.size()), results))
    check_plain(call, all.first(call.in.size()), results, context, resources);
  if (settle) settle_results(call, context, results, reach);
}

// A call that can be made again and again, on any thread, by a graph of the simulated device.
class RecordedCall {
 public:
  RecordedCall(const KernelCall& call, const RunContext& context)
      : op_(call.op),
        kernel_(call.kernel),
        params_(call.params),
        num_inputs_(call.in.size()),
        requests_(call.requests.begin(), call.requests.end()),
        training_(call.training),
        context_(context) {
    for (const NDArray* array : call.in) arrays_.push_back(*array);
    for (const NDArray* array : call.out) arrays_.push_back(*array);
  }
  void operator()() const {
    const ArrayRefs all(arrays_);
    run_here({op_, kernel_, params_, all.first(num_inputs_), all.from(num_inputs_), requests_,
              training_, false},
             context_, [](void* data, std::size_t bytes) { return sim_translate(data, bytes); });
  }

 private:
  const OpDef& op_;
  const KernelEntry& kernel_;
  const void* const params_;
  std::vector<NDArray> arrays_;  // inputs, then outputs
  const std::size_t num_inputs_;
  const std::vector<Request> requests_;
  const bool training_;
  const RunContext context_;
};

// A CPU kernel that stands in for one of the simulated device: in the order of its stream, on its
// thread.
void run_simulated(const KernelCall& call, const RunContext& context) {
  // Memory is taken here: the simulator may not be called from inside itself.
  for (std::size_t i = 0; i < call.in.size(); ++i)
    if (!call.op.type_only(static_cast<int>(i))) call.in[i]->data();
  for (const NDArray* out : call.out) out->data();
  std::exception_ptr error;
  Stream& stream = *context.stream;
  if (CaptureScope::current() != nullptr) {
    return stream.api().host_call(
        stream.device(), stream.native(),
        [recorded = std::make_shared<const RecordedCall>(call, context)] { (*recorded)(); });
  }
  stream.api().host_call(stream.device(), stream.native(), [&] {
    try {
      run_here(call, context,
               [](void* data, std::size_t bytes) { return sim_translate(data, bytes); });
    } catch (...) {
      error = std::current_exception();
    }
  });
  stream.synchronize();
  if (error) std::rethrow_exception(error);
}

[[gnu::noinline]] const KernelEntry& first_that_accepts(const OpDef& op, const void* params,
                                                        std::span<const ArrayType> in,
                                                        std::span<const ArrayType> out,
                                                        Device device, bool training) {
  Tensors tensors;  // filled when a kernel asks
  const auto accepts = [&](const KernelEntry& kernel) {
    if (!kernel.accepts) return true;
    if (tensors.empty()) {
      for (const ArrayType& t : in) tensors.push_back({nullptr, &t.shape, t.dtype});
      for (const ArrayType& t : out) tensors.push_back({nullptr, &t.shape, t.dtype});
    }
    const std::span<const Tensor> all = tensors.span();
    const Signature signature{all.first(in.size()), all.subspan(in.size()), training};
    return kernel.accepts(params, signature);
  };
  if (device.is_gpu()) {  // no such table where GPUs are simulated
    const KernelEntry* kernel = gpu_kernel(op);
    if (kernel != nullptr && accepts(*kernel)) return *kernel;
  }
  for (const KernelEntry& kernel : op.kernels())
    if (kernel.device == DeviceType::kCPU && accepts(kernel)) return kernel;
  throw Error(ErrorCode::kType, op.name(),
              fmt::format("given input types ({}), expected ones that a kernel on {} accepts",
                          type_list(in), to_string(device)));
}

}  // namespace

const KernelEntry& choose_kernel(const OpDef& op, const void* params, std::span<const ArrayType> in,
                                 std::span<const ArrayType> out, Device device, bool training) {
  if (!device.is_gpu() && !op.kernels().empty()) {
    const KernelEntry& first = op.kernels().front();
    if (first.device == DeviceType::kCPU && !first.accepts) return first;  // most have one, for all
  }
  return first_that_accepts(op, params, in, out, device, training);
}

void run_kernel(const KernelCall& call, const RunContext& context) {
  if (runs_on_host(call.kernel, context.device)) {
    run_on_host(call, context);
  } else if (context.device.is_gpu() && call.kernel.device == DeviceType::kCPU) {
    run_simulated(call, context);
  } else {
    run_here(call, context, nullptr);
    if (call.kernel.device == DeviceType::kGPU) engine::complete_by_event();
  }
}

}  // namespace mxnet
