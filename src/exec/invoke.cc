// SPDX-License-Identifier: Apache-2.0
// The eager path: everything between a caller's arrays and an engine operation. Short calls touch
// the stack and recycled memory only.
#include "exec/invoke.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/omp.h"
#include "engine/here.h"
#include "exec/call_errors.h"
#include "exec/densify.h"
#include "exec/invocation.h"
#include "exec/invoke_at_once.h"
#include "exec/run_kernel.h"
#include "exec/run_on_host.h"
#include "exec/sparse_on_host.h"
#include "op/generators/random_streams.h"
#include "op/inline_vector.h"
#include "op/named_errors.h"
#include "op/params/parsed_attrs.h"
#include "op/sparse_op.h"

namespace mxnet {
namespace {

// Elements up to which a call may run on its caller's thread: about what a worker's wake-up costs.
constexpr int64_t kInlineElements = 16384;
// Elements up to which a thread that waits computes what goes from element to element: alone, about
// what it takes to wake a worker and to be woken by it.
constexpr int64_t kHelpedElements = 4 * kInlineElements;
// Up to here comparing all pairs is faster than sorting.
constexpr std::size_t kFewVars = 24;

using Types = InlineVector<ArrayType, 8>;
using Vars = InlineVector<Var*, 12>;
using Layouts = InlineVector<StorageType, 8>;

void check_counts(const OpDef& op, const void* params, InputRefs inputs, OutputRefs outputs) {
  check_num_inputs(op, params, inputs.size());
  MX_ASSERT(outputs.size() == static_cast<std::size_t>(op.num_outputs(params)));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]->is_none()) throw_no_array(op, params, i);
}

// Pinned and shared memory holds what was put there, not what is computed from it.
Device device_of(InputRefs inputs, OutputRefs outputs, Device fallback) {
  if (!inputs.empty()) {
    const Device first = inputs[0]->device();
    return first.is_gpu() || first.type == DeviceType::kCPU ? first : Device::cpu();
  }
  if (!outputs.empty() && !outputs[0]->is_none()) return outputs[0]->device();
  return fallback;
}

// Whether all arrays are dense and in ordinary memory of the host, as nearly always: nothing about
// layouts and devices is to be asked then.
bool all_usual(InputRefs inputs, OutputRefs outputs) {
  const auto usual = [](const NDArray& array) {
    return array.chunk()->device().type == DeviceType::kCPU && array.chunk()->sparse() == nullptr;
  };
  for (const NDArray* array : inputs)
    if (!usual(*array)) return false;
  for (const NDArray* array : outputs)
    if (!array->is_none() && !usual(*array)) return false;
  return !inputs.empty();
}

// All CPU ids and kinds are one memory; GPUs are not.
bool reachable(Device array, Device device) {
  return array.is_gpu() == device.is_gpu() && (!device.is_gpu() || array == device);
}

void check_devices(const OpDef& op, const void* params, InputRefs inputs, OutputRefs outputs,
                   Device device) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!reachable(inputs[i]->device(), device))
      throw_wrong_device(op, input_title(op, params, i), inputs[i]->device(), device);
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (!outputs[o]->is_none() && !reachable(outputs[o]->device(), device))
      throw_wrong_device(op, output_title(o), outputs[o]->device(), device);
  }
}

// Whether a call with sparse arrays, or of an operator that makes such, needs the operator's sparse
// kernel; fills `layouts` with the storage types of inputs and outputs.
Dispatch choose_layouts(const OpDef& op, const void* params, InputRefs inputs, OutputRefs outputs,
                        Device device, Layouts& layouts) {
  for (const NDArray* array : inputs) layouts.push_back(array->storage_type());
  for (const NDArray* array : outputs) layouts.push_back(array->storage_type());
  const std::span<StorageType> all = layouts.span();
  return infer_storage(op, params, device, {all.first(inputs.size()), all.subspan(inputs.size())});
}

// Checks given outputs against what was inferred, then makes the missing ones, in their layouts if
// there are any: nothing is made for a call that fails.
void settle_outputs(const OpDef& op, InputRefs inputs, std::span<const ArrayType> types,
                    Device device, std::span<const StorageType> layouts, OutputRefs outputs) {
  bool all_given = true;
  for (std::size_t o = 0; o < types.size(); ++o) {
    const ArrayType& type = types[o];
    const NDArray& out = *outputs[o];
    if (!type.complete()) throw_incomplete(op, !inputs.empty(), o, type);
    if (out.is_none())
      all_given = false;
    else if (out.shape() != type.shape || out.dtype() != type.dtype)
      throw_wrong_output(op, o, out, type);
  }
  if (all_given) return;
  for (std::size_t o = 0; o < types.size(); ++o) {
    if (!outputs[o]->is_none()) continue;
    const ArrayType& type = types[o];
    *outputs[o] = layouts.empty() || layouts[o] == StorageType::kDense
                      ? NDArray(type.shape, type.dtype, device, op.name().c_str())
                      : NDArray(layouts[o], type.shape, type.dtype, device);
  }
}

// Lets an output that is to be made have the memory of an input that nobody else holds.
void take_over_donated(const OpDef& op, std::span<const ArrayType> out_types, InputRefs inputs,
                       OutputRefs outputs, uint64_t donated) {
  for (const auto& [i, o] : op.inplace()) {
    if (i >= 64 || (donated >> i & 1) == 0) continue;
    const auto in = static_cast<std::size_t>(i), out = static_cast<std::size_t>(o);
    const ArrayType& type = out_types[out];
    if (in >= inputs.size() || !outputs[out]->is_none() || !inputs[in]->chunk()->unique() ||
        inputs[in]->shape() != type.shape || inputs[in]->dtype() != type.dtype)
      continue;
    *outputs[out] = inputs[in]->detach();
  }
}

// The arrays alone: a tape held by an operation in flight would keep whole graphs alive. Their
// shapes are those of the inference, which nobody needs any more.
void add_arrays(Invocation& call, std::span<const NDArray* const> arrays,
                std::span<ArrayType> types) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    call.arrays.emplace_back(arrays[i]->chunk(), arrays[i]->offset(), std::move(types[i].shape),
                             types[i].dtype);
  }
}

bool contains(const Vars& vars, Var* var) {
  for (const Var* other : vars)
    if (other == var) return true;
  return false;
}

// Sorts and drops repetitions.
void make_unique(Vars& vars) {
  std::sort(vars.begin(), vars.end());
  vars.resize(static_cast<std::size_t>(std::unique(vars.begin(), vars.end()) - vars.begin()));
}

// Variables of a call: what is written is not also listed as read; nothing twice.
[[gnu::noinline]] void list_many_variables(const OpDef& op, const void* params, InputRefs in,
                                           OutputRefs out, Vars& reads, Vars& writes) {
  std::vector<int> mutated;
  if (op.mutates_inputs()) mutated = op.mutated_inputs(params);
  if (op.clobbers_inputs()) {
    const std::vector<int> clobbered = op.clobbered_inputs(params);
    mutated.insert(mutated.end(), clobbered.begin(), clobbered.end());
  }
  if (in.size() + out.size() + mutated.size() <= kFewVars) {
    for (const NDArray* array : out)
      if (!contains(writes, array->var())) writes.push_back(array->var());
    for (int i : mutated) {
      Var* var = in[static_cast<std::size_t>(i)]->var();
      if (!contains(writes, var)) writes.push_back(var);
    }
    for (std::size_t i = 0; i < in.size(); ++i) {
      Var* var = in[i]->var();
      if (!op.type_only(static_cast<int>(i)) && !contains(writes, var) && !contains(reads, var))
        reads.push_back(var);
    }
    return;
  }
  for (const NDArray* array : out) writes.push_back(array->var());
  for (int i : mutated) writes.push_back(in[static_cast<std::size_t>(i)]->var());
  make_unique(writes);
  for (const NDArray* array : in) {
    if (!std::binary_search(writes.begin(), writes.end(), array->var()))
      reads.push_back(array->var());
  }
  make_unique(reads);
}

// The same for the usual call: one output, few inputs, none of which is changed.
void list_variables(const OpDef& op, const void* params, InputRefs in, OutputRefs out, Vars& reads,
                    Vars& writes) {
  if (out.size() != 1 || in.size() > 4 || op.mutates_inputs() || op.clobbers_inputs())
    return list_many_variables(op, params, in, out, reads, writes);
  Var* const written = out[0]->var();
  writes.push_back(written);
  Var* listed[4];
  std::size_t count = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    Var* const var = in[i]->var();
    if (op.type_only(static_cast<int>(i)) || var == written) continue;
    if (std::find(listed, listed + count, var) != listed + count) continue;
    listed[count++] = var;
    reads.push_back(var);
  }
}

// What is small runs on its pusher, or on whichever worker: nowhere does it make a pool of threads.
void run(const Invocation& call, bool small, const RunContext& context) {
  if (!small) {
    follow_omp_width();
    return call.run(context);
  }
  const OneThread narrow;
  call.run(context);
}

int64_t largest(std::span<const ArrayType> types) {
  int64_t elements = 0;
  for (const ArrayType& type : types) {
    int64_t size = 1;  // here and now, as it nearly always fits
    for (const int64_t dim : type.shape) {
      if (__builtin_mul_overflow(size, dim, &size)) [[unlikely]] {
        size = type.shape.size();
        break;
      }
    }
    elements = std::max(elements, size);
  }
  return elements;
}

// Runs a call on the caller's own arrays, and without a record that would hold on to them, where
// nothing is to be waited for. False: nothing has happened.
bool run_if_free(const KernelCall& call, const OpSpec& spec) {
  SyncFn body = [&call](const RunContext& context) {
    const OneThread narrow;
    told_by(call.op, [&] { run_kernel(call, context); });
  };
  return engine::run_if_free(body, spec);
}

// How a call that is pushed keeps its arrays: `layouts` of inputs and outputs are none, and
// `sparse` is null, where all are dense and none is to be otherwise.
struct Storage {
  Layouts layouts;
  const SparseOp* sparse = nullptr;
};

// Calls with sparse arrays, or of an operator that makes such. True: it was made in another way,
// and nothing is left to be pushed.
bool run_otherwise(const OpDef& op, const ParamsPtr& params, InputRefs inputs, OutputRefs outputs,
                   const InvokeOptions& options, Storage& storage) {
  const Device home = device_of(inputs, outputs, options.device);
  if (home.is_gpu()) {
    check_devices(op, params.get(), inputs, outputs, home);
    invoke_sparse_on_host(op, params, inputs, outputs, home, options);
    return true;
  }
  Layouts& layouts = storage.layouts;
  const Dispatch dispatch = choose_layouts(op, params.get(), inputs, outputs, home, layouts);
  if (dispatch == Dispatch::kFallback) {
    invoke_densified(op, params, inputs, outputs, layouts.span().subspan(inputs.size()), options);
    return true;
  }
  if (dispatch == Dispatch::kSparse) storage.sparse = find_sparse(op);
  return false;
}

// Whose arrays and types a call has, once they are settled.
struct SettledCall {
  const OpDef& op;
  const ParamsPtr& params;
  const KernelEntry& kernel;
  const SparseOp* sparse;
  InputRefs inputs;
  OutputRefs outputs;
  std::span<ArrayType> types;  // of inputs, then of outputs
  const InvokeOptions& options;
};

// The record that the engine keeps until it has run.
InvocationPtr record_of(const SettledCall& settled) {
  InvocationPtr call = new_invocation();
  call->op = &settled.op;
  call->kernel = &settled.kernel;
  call->sparse = settled.sparse;
  call->params = settled.params;
  call->training = settled.options.training;
  call->hidden_unread = settled.options.hidden_unread;
  call->num_inputs = settled.inputs.size();
  add_arrays(*call, settled.inputs, settled.types.first(settled.inputs.size()));
  add_arrays(*call, InputRefs(settled.outputs), settled.types.subspan(settled.inputs.size()));
  for (Request request : settled.options.requests) call->requests.push_back(request);
  return call;
}

// Runs it here or makes an operation of the engine of it. Not a part of push_call, behind whose
// many checks the compiler takes it for something rare and makes it small instead of fast.
[[gnu::noinline]] void push_settled(const SettledCall& call, Device device) {
  const auto& [op, params, kernel, sparse, inputs, outputs, types, options] = call;
  const bool inline_op = op.may_run_inline() && !device.is_gpu();
  const int64_t elements = largest(types);
  const bool cheap = inline_op && elements <= kInlineElements;
  // What one thread computes as soon. An operator whose output may take the place of its input goes
  // from element to element; what a product or a convolution of so few takes is not known.
  const bool narrow = cheap || (inline_op && elements <= kHelpedElements && op.may_share(0, 0)) ||
                      omp_threads() == 1;
  Vars reads, writes;
  list_variables(op, params.get(), inputs, outputs, reads, writes);
  if (op.uses_random(params.get(), options.training))
    writes.push_back(RandomStreams::of(draws_from(kernel, device)).var());
  const OpSpec spec{.device = device,
                    .reads = reads.span(),
                    .writes = writes.span(),
                    .priority = options.priority,
                    .name = op.name().c_str(),
                    .cheap = cheap,
                    .computes = narrow};
  if (cheap && sparse == nullptr &&
      run_if_free({.op = op,
                   .kernel = kernel,
                   .params = params.get(),
                   .in = inputs,
                   .out = outputs,
                   .requests = options.requests,
                   .training = options.training,
                   .hidden_unread = options.hidden_unread},
                  spec))
    return;
  Engine::get().push([record = record_of(call),
                      cheap](const RunContext& context) { run(*record, cheap, context); },
                     spec);
}

void push_call(const OpDef& op, const ParamsPtr& params, InputRefs inputs, OutputRefs outputs,
               const InvokeOptions& options) {
  check_counts(op, params.get(), inputs, outputs);
  Storage storage;
  const bool usual = all_usual(inputs, outputs);
  if (!options.dense &&
      (op.makes_sparse(params.get()) || (!usual && any_sparse(inputs, outputs))) &&
      run_otherwise(op, params, inputs, outputs, options, storage))
    return;
  if (op.shape_from_values(params.get(), static_cast<int>(inputs.size())))
    return invoke_at_once(op, params, inputs, outputs, options);
  const Device device = device_of(inputs, outputs, options.device);
  if (!usual) check_devices(op, params.get(), inputs, outputs, device);

  Types types;
  for (const NDArray* array : inputs) types.emplace_back(array->shape(), array->dtype());
  // Given outputs take part in the inference: uniform(out=x) has the shape of x.
  for (const NDArray* array : outputs) types.emplace_back(array->shape(), array->dtype());
  const std::span<ArrayType> in_types = types.span().first(inputs.size());
  const std::span<ArrayType> out_types = types.span().subspan(inputs.size());
  Infer infer(op, params.get(), in_types, out_types);
  op.infer(params.get(), infer);
  check_dtypes(op, params.get(), in_types);
  const KernelEntry& kernel =
      choose_kernel(op, params.get(), in_types, out_types, device, options.training);
  if (options.donated != 0 && storage.sparse == nullptr)
    take_over_donated(op, out_types, inputs, outputs, options.donated);
  std::span<const StorageType> out_layouts;
  if (!storage.layouts.empty()) out_layouts = storage.layouts.span().subspan(inputs.size());
  settle_outputs(op, inputs, out_types, device, out_layouts, outputs);
  push_settled({op, params, kernel, storage.sparse, inputs, outputs, types.span(), options},
               device);
}

}  // namespace

void invoke(const OpDef& op, const ParamsPtr& params, InputRefs inputs, OutputRefs outputs,
            const InvokeOptions& options) {
  told_by(op, [&] { push_call(op, params, inputs, outputs, options); });
}

void fill_array(const char* op_name, const NDArray& array) {
  const OpDef& op = Registry::get().at(op_name);
  NDArray out = array.detach();
  const std::array<const NDArray*, 1> inputs{&array};
  const std::array<NDArray*, 1> outputs{&out};
  invoke(op, parse_attrs(op, {})->params(), inputs, outputs);
}

}  // namespace mxnet
