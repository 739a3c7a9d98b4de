// SPDX-License-Identifier: Apache-2.0
// The eager path: everything between a caller's arrays and an engine operation.
#include "exec/invoke.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/error.h"
#include "exec/run_kernel.h"

namespace mxnet {
namespace {

// Elements up to which a call may run on its caller's thread: about what a worker's wake-up costs.
constexpr int64_t kInlineElements = 16384;

// What one push carries; freed when the operation has run. Small calls stay inside one allocation
// of the pool.
struct Invocation {
  const OpDef* op;
  const KernelEntry* kernel;
  ParamsPtr params;
  std::vector<NDArray> in, out;
  std::vector<Request> requests;
  bool training;
};

std::vector<ArrayType> types_of(std::span<const NDArray> arrays) {
  std::vector<ArrayType> types;
  types.reserve(arrays.size());
  for (const NDArray& array : arrays) types.push_back({array.shape(), array.dtype()});
  return types;
}

void check_count(const OpDef& op, const void* params, std::size_t given) {
  const int expected = op.num_inputs(params);
  if (static_cast<int>(given) != expected) {
    throw Error(ErrorCode::kValue, op.name(),
                fmt::format("given {} inputs, expected {}", given, expected));
  }
}

Device device_of(std::span<const NDArray> inputs, const std::vector<NDArray>& outputs,
                 Device fallback) {
  if (!inputs.empty()) return inputs[0].device();
  if (!outputs.empty() && !outputs[0].is_none()) return outputs[0].device();
  return fallback;
}

void check_devices(const OpDef& op, const void* params, std::span<const NDArray> inputs,
                   Device device) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // All CPU ids and kinds are one memory; GPUs are not.
    if (inputs[i].device().is_gpu() == device.is_gpu() &&
        (!device.is_gpu() || inputs[i].device() == device))
      continue;
    throw Error(ErrorCode::kValue, op.name(),
                fmt::format("given '{}' on {}, expected {} as the first input",
                            op.input_name(params, static_cast<int>(i)),
                            to_string(inputs[i].device()), to_string(device)));
  }
}

// Fills in missing outputs and checks given ones against what was inferred.
void settle_outputs(const OpDef& op, std::span<const ArrayType> types, Device device,
                    std::vector<NDArray>* outputs) {
  if (outputs->empty()) outputs->resize(types.size());
  if (outputs->size() > types.size()) {
    throw Error(ErrorCode::kValue, op.name(),
                fmt::format("given {} outputs, expected {}", outputs->size(), types.size()));
  }
  outputs->resize(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    NDArray& out = (*outputs)[i];
    if (!types[i].complete()) {
      throw Error(ErrorCode::kValue, op.name(),
                  fmt::format("shape {} or type {} of output {} is not known from the inputs",
                              to_string(types[i].shape), dtype_name(types[i].dtype), i));
    }
    if (out.is_none()) {
      out = NDArray(types[i].shape, types[i].dtype, device, op.name().c_str());
    } else if (out.shape() != types[i].shape || out.dtype() != types[i].dtype) {
      throw Error(ErrorCode::kValue, op.name(),
                  fmt::format("given output {} of {} {}, expected {} {}", i,
                              dtype_name(out.dtype()), to_string(out.shape()),
                              dtype_name(types[i].dtype), to_string(types[i].shape)));
    }
  }
}

// Variables of a call: what is written is not also listed as read; nothing twice.
struct Dependencies {
  std::vector<Var*> reads, writes;

  Dependencies(const OpDef& op, const void* params, std::span<const NDArray> in,
               std::span<const NDArray> out) {
    for (const NDArray& array : out) add(&writes, array.var());
    for (int i : op.mutated_inputs(params)) add(&writes, in[static_cast<std::size_t>(i)].var());
    for (const NDArray& array : in) {
      if (std::find(writes.begin(), writes.end(), array.var()) == writes.end())
        add(&reads, array.var());
    }
  }

 private:
  static void add(std::vector<Var*>* list, Var* var) {
    if (std::find(list->begin(), list->end(), var) == list->end()) list->push_back(var);
  }
};

}  // namespace

void invoke(const OpDef& op, const ParamsPtr& params, std::span<const NDArray> inputs,
            std::vector<NDArray>* outputs, const InvokeOptions& options) {
  check_count(op, params.get(), inputs.size());
  const Device device = device_of(inputs, *outputs, options.device);
  check_devices(op, params.get(), inputs, device);

  std::vector<ArrayType> in_types = types_of(inputs);
  std::vector<ArrayType> out_types(static_cast<std::size_t>(op.num_outputs(params.get())));
  Infer infer(op, params.get(), in_types, out_types);
  op.infer(params.get(), infer);
  settle_outputs(op, out_types, device, outputs);

  auto call = std::make_unique<Invocation>();
  call->op = &op;
  call->params = params;
  call->in.assign(inputs.begin(), inputs.end());
  call->out = *outputs;
  // What runs needs memory, not history: a tape held here would keep whole graphs alive.
  for (NDArray& array : call->in) array.set_tape({});
  for (NDArray& array : call->out) array.set_tape({});
  call->requests.assign(options.requests.begin(), options.requests.end());
  call->training = options.training;
  call->kernel = &choose_kernel(op, params.get(), call->in, call->out, device, options.training);

  int64_t elements = 0;
  for (const NDArray& array : call->in) elements = std::max(elements, array.size());
  for (const NDArray& array : call->out) elements = std::max(elements, array.size());

  const Dependencies dependencies(op, params.get(), call->in, call->out);
  Engine::get().push(
      [call = std::move(call)](const RunContext& context) {
        run_kernel(*call->op, *call->kernel, call->params.get(), call->in, call->out,
                   call->requests, call->training, context);
      },
      {.device = device,
       .reads = dependencies.reads,
       .writes = dependencies.writes,
       .priority = options.priority,
       .name = op.name().c_str(),
       .cheap = op.may_run_inline() && elements <= kInlineElements && !device.is_gpu()});
}

}  // namespace mxnet
