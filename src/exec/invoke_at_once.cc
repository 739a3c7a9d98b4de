// SPDX-License-Identifier: Apache-2.0
// Running a kernel that makes its outputs itself.
#include "exec/invoke_at_once.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/error.h"
#include "base/hooks.h"
#include "engine/engine.h"
#include "engine/here.h"
#include "exec/run_kernel.h"
#include "op/inline_vector.h"
#include "op/params/parsed_attrs.h"
#include "storage/storage.h"

namespace mxnet {
namespace {

using Vars = InlineVector<Var*, 8>;
using Targets = InlineVector<const NDArray*, 4>;

// Lends scratch memory and collects outputs as they are made, in `targets` (one per output, null
// where there is none) that have their shape.
class CollectingResources final : public KernelResources {
 public:
  CollectingResources(const OpDef& op, std::span<const ArrayType> types, Device device,
                      std::span<const NDArray* const> targets)
      : op_(op), types_(types), device_(device), targets_(targets), made_(types.size()) {}
  // All work is done then, on whichever device.
  ~CollectingResources() override {
    for (const Block& block : blocks_) Storage::get().release(block, nullptr);
  }
  CollectingResources(const CollectingResources&) = delete;
  CollectingResources& operator=(const CollectingResources&) = delete;
  // What uses the memory; null for the host.
  void run_on(Stream* stream) { stream_ = stream; }
  void use_no_targets() { targets_ = {}; }
  void* workspace(std::size_t bytes) override {
    return blocks_.emplace_back(Storage::get().allocate(bytes, device_, "workspace", stream_)).data;
  }
  Tensor make_out(int i, const Shape& shape) override {
    const auto o = static_cast<std::size_t>(i);
    MX_ASSERT(made_[o].is_none());
    const NDArray* const target = targets_.empty() ? nullptr : targets_[o];
    made_[o] = target != nullptr && target->shape() == shape
                   ? target->detach()
                   : NDArray(shape, types_[o].dtype, device_, op_.name().c_str());
    return {made_[o].data(), &made_[o].shape(), made_[o].dtype()};
  }
  const NDArray& made(std::size_t o) const {
    MX_ASSERT(!made_[o].is_none());
    return made_[o];
  }

 private:
  const OpDef& op_;
  const std::span<const ArrayType> types_;
  const Device device_;
  std::span<const NDArray* const> targets_;
  Stream* stream_ = nullptr;
  std::vector<NDArray> made_;
  InlineVector<Block, 2> blocks_;
};

void add_to(const NDArray& target, const NDArray& addend) {
  const OpDef& op = Registry::get().at("elemwise_add");
  NDArray sum = target;
  invoke(op, parse_attrs(op, {})->params(), std::array<const NDArray*, 2>{&target, &addend},
         std::array<NDArray*, 1>{&sum});
}

// Outputs of the caller's in which results may be computed: of the host, and in memory that the
// call uses for nothing else. Empty if there are none.
void find_targets(InputRefs inputs, OutputRefs outputs, std::span<const ArrayType> types,
                  const InvokeOptions& options, Targets& targets) {
  bool any = false;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const NDArray& out = *outputs[o];
    const auto is_there = [&](const NDArray* other) { return other->chunk() == out.chunk(); };
    const bool suits = !out.is_none() && !out.is_sparse() && !out.device().is_gpu() &&
                       out.dtype() == types[o].dtype &&
                       (options.requests.empty() || options.requests[o] == Request::kWrite) &&
                       std::ranges::none_of(inputs, is_there) &&
                       std::ranges::none_of(outputs.first(o), is_there);
    targets.push_back(suits ? &out : nullptr);
    any |= suits;
  }
  if (!any) targets.clear();
}

void list_variables(std::span<const NDArray> arrays, Vars& vars) {
  for (const NDArray& array : arrays)
    if (std::ranges::find(vars, array.var()) == vars.end()) vars.push_back(array.var());
}

// As an operation of the engine that writes the targets, if nobody else uses them: whoever comes
// next is to find them written. False: nothing has happened.
bool run_into(std::span<const NDArray* const> targets, const OpDef& op,
              std::span<const NDArray> inputs, const std::function<void(Stream*)>& run) {
  if (targets.empty()) return false;
  Vars reads, writes;
  list_variables(inputs, reads);
  for (const NDArray* target : targets)
    if (target != nullptr) writes.push_back(target->var());
  SyncFn body = [&run](const RunContext&) { run(nullptr); };
  if (!engine::run_if_free(body, {.device = Device::cpu(),
                                  .reads = reads.span(),
                                  .writes = writes.span(),
                                  .name = op.name().c_str(),
                                  .cheap = true,
                                  .computes = true}))
    return false;
  for (const NDArray* target : targets)
    if (target != nullptr) target->wait_to_read();  // throws what the kernel has thrown
  return true;
}

// Brings a result to where the caller wants it.
void deliver(const OpDef& op, const NDArray& result, Device device, Request request, std::size_t o,
             NDArray& out, int priority) {
  if (request == Request::kNull) return;
  const bool is_there = !device.is_gpu() || result.device().is_gpu();
  if (out.is_none()) {
    out = is_there ? result : result.copy(device);
    return;
  }
  if (out.chunk() == result.chunk()) return;
  if (out.shape() != result.shape() || out.dtype() != result.dtype()) {
    throw Error(
        ErrorCode::kValue, op.name(),
        fmt::format("given output {} of {} {}, expected {} {}", o, dtype_name(out.dtype()),
                    to_string(out.shape()), dtype_name(result.dtype()), to_string(result.shape())));
  }
  if (request == Request::kAdd) {
    add_to(out, is_there ? result : result.copy(device));
  } else {
    result.copy_to(out, priority);
  }
}

// An operation on the device's stream, for whose end the host waits; rethrows what it throws.
void run_on_gpu(const OpDef& op, Device device, std::span<const NDArray> inputs, int priority,
                const std::function<void(Stream*)>& run) {
  const NDArray done(Shape{1}, DType::kUInt8, device);  // for its variable: it never has memory
  Vars reads;
  list_variables(inputs, reads);
  Var* const writes[] = {done.var()};
  Engine::get().push([&run](const RunContext& context) { run(context.stream); },
                     {.device = device,
                      .reads = reads.span(),
                      .writes = writes,
                      .priority = priority,
                      .name = op.name().c_str()});
  done.wait_to_read();
}

}  // namespace

void invoke_at_once(const OpDef& op, const ParamsPtr& params, InputRefs inputs, OutputRefs outputs,
                    const InvokeOptions& options) {
  const Device device = inputs.empty() ? options.device : inputs[0]->device();
  InlineVector<ArrayType, 8> types;
  for (const NDArray* input : inputs) types.emplace_back(ArrayType{input->shape(), input->dtype()});
  types.resize(inputs.size() + outputs.size());
  const std::span<ArrayType> in_types = types.span().first(inputs.size());
  const std::span<ArrayType> out_types = types.span().subspan(inputs.size());
  Infer infer(op, params.get(), in_types, out_types);
  op.infer(params.get(), infer);
  const KernelEntry& kernel =
      choose_kernel(op, params.get(), in_types, out_types, device, options.training);
  const bool on_gpu = kernel.device == DeviceType::kGPU;
  const Device home = on_gpu ? device : Device::cpu();
  InlineVector<NDArray, 4> arrays;
  for (const NDArray* input : inputs)
    arrays.push_back(input->device().is_gpu() && !on_gpu ? input->copy(home) : input->detach());
  for (ArrayType& type : out_types) type.shape = Shape();  // also where inference knows part of it

  Targets targets;
  if (!on_gpu) find_targets(inputs, outputs, out_types, options, targets);
  CollectingResources resources(op, out_types, home, targets.span());
  const auto run = [&](Stream* stream) {
    resources.run_on(stream);
    InlineVector<Tensor, 8> tensors;
    for (const NDArray& array : arrays)
      tensors.push_back({array.data(), &array.shape(), array.dtype()});
    for (const ArrayType& type : out_types) tensors.push_back({nullptr, &type.shape, type.dtype});
    const std::span<const Tensor> all = tensors.span();
    KernelContext context(all.first(inputs.size()), all.subspan(inputs.size()), home, stream,
                          options.training, resources);
    const Span span(SpanKind::kImperative, op.name().c_str());
    kernel.run(params.get(), context);
  };
  if (on_gpu) {
    run_on_gpu(op, device, arrays.span(), options.priority, run);
  } else {
    for (const NDArray& array : arrays) array.wait_to_read();
    if (!run_into(targets.span(), op, arrays.span(), run)) {
      resources.use_no_targets();
      run(nullptr);
    }
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    deliver(op, resources.made(o), device,
            options.requests.empty() ? Request::kWrite : options.requests[o], o, *outputs[o],
            options.priority);
  }
}

}  // namespace mxnet
