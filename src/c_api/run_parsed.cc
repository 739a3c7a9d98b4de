// SPDX-License-Identifier: Apache-2.0
// Handles of inputs and outputs around one operator call.
#include "c_api/run_parsed.h"

#include <fmt/format.h>

#include "base/of_thread.h"
#include "c_api/ndarray_handle.h"
#include "exec/imperative.h"
#include "op/inline_vector.h"
#include "op/op_def.h"
#include "op/value_count.h"

namespace mxnet::c_api {
namespace {

// What goes out through pointers; lives until the next call on this thread.
struct InvokeReturns {
  std::vector<NDArrayHandle> handles;
  std::vector<int> storage_types;
};

// What is wrong with a handle, of which argument of which operator.
[[noreturn]] void complain(const OpDef& op, const std::string& argument, NDArrayHandle handle) {
  try {
    array_of(handle);
  } catch (const Error& error) {
    throw Error(error.code(), op.name(), fmt::format("{} for {}", error.message(), argument));
  }
  throw Error(ErrorCode::kValue, op.name(),
              fmt::format("given a handle that another thread freed for {}", argument));
}

NDArray& input_of(const OpDef& op, const void* params, int i, NDArrayHandle handle) {
  if (NDArray* array = ndarray_pool().get_if(handle)) [[likely]]
    return *array;
  const int count = op.num_inputs(params);
  complain(op,
           i < count && count <= kMostValues ? fmt::format("'{}'", op.input_name(params, i))
                                             : fmt::format("input {}", i),
           handle);
}

NDArray& output_of(const OpDef& op, int i, NDArrayHandle handle) {
  if (NDArray* array = ndarray_pool().get_if(handle)) [[likely]]
    return *array;
  complain(op, fmt::format("output {}", i), handle);
}

void check_given(const OpDef& op, int given, int total, int visible) {
  if (given == total || given == visible) return;
  throw Error(ErrorCode::kValue, op.name(),
              fmt::format("given {} outputs, expected {}{}", given, visible,
                          total == visible ? "" : fmt::format(" (visible) or {} (all)", total)));
}

}  // namespace

void run_parsed(const ParsedAttrsRef& parsed, Device device, int num_inputs, NDArrayHandle* inputs,
                int* num_outputs, NDArrayHandle** outputs) {
  const OpDef& op = parsed->op();
  const void* params = parsed->params().get();
  InlineVector<NDArray*, 8> in, out;
  for (int i = 0; i < num_inputs; ++i) in.push_back(&input_of(op, params, i, inputs[i]));
  const int total = op.num_outputs(params), visible = op.num_visible_outputs(params);
  if (total < 0 || total > kMostValues) {
    throw Error(
        ErrorCode::kValue, op.name(),
        fmt::format("given parameters for {} outputs, expected at most {}", total, kMostValues));
  }
  const bool given = *outputs != nullptr;
  if (given) {
    check_given(op, *num_outputs, total, visible);
    for (int o = 0; o < *num_outputs; ++o) out.push_back(&output_of(op, o, (*outputs)[o]));
  }
  // Those that the caller has not given; hidden ones end with the call.
  InlineVector<NDArray, 4> made(static_cast<std::size_t>(total) - out.size());
  for (NDArray& array : made) out.push_back(&array);
  const bool drops_hidden = !given || *num_outputs == visible;
  imperative_invoke(parsed, in.span(), out.span(), num_inputs == 0 ? device : Device(),
                    drops_hidden);
  if (given) return;
  std::vector<NDArrayHandle>& handles = of_thread<InvokeReturns>().handles;
  handles.clear();
  for (int o = 0; o < visible; ++o)
    handles.push_back(new_handle(std::move(made[static_cast<std::size_t>(o)])));
  *num_outputs = visible;
  *outputs = handles.data();
}

const int* storage_types_of(int count, const NDArrayHandle* handles) {
  std::vector<int>& types = of_thread<InvokeReturns>().storage_types;
  types.clear();
  for (int o = 0; o < count; ++o)
    types.push_back(static_cast<int>(array_of(handles[o]).storage_type()));
  return types.data();
}

}  // namespace mxnet::c_api
