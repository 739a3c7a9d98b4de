// SPDX-License-Identifier: Apache-2.0
// Cached ops by handle.
#include <memory>

#include <fmt/format.h>

#include "base/of_thread.h"
#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "c_api/symbol_handle.h"
#include "exec/cached_op.h"
#include "mxnet/c_api_ext.h"
#include "op/inline_vector.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

HandlePool<std::unique_ptr<CachedOp>>& cached_op_pool() {
  static constinit HandlePool<std::unique_ptr<CachedOp>> pool("CachedOp");
  return pool;
}

CachedOp& cached_op_of(CachedOpHandle handle, const char* function) {
  return *cached_op_pool().get(handle, function);
}

// What goes out through pointers; lives until the next call on this thread.
struct CachedOpReturns {
  std::vector<NDArrayHandle> handles;
  std::vector<int> storage_types;
};
CachedOpReturns& cached_op_returns() { return of_thread<CachedOpReturns>(); }

void create(const char* function, SymbolHandle symbol, int num_flags, const char** keys,
            const char** vals, CachedOpHandle* out) {
  require(out, function, "out");
  const Symbol& of = symbol_of(symbol, function);
  std::vector<std::pair<std::string_view, std::string_view>> flags;
  for_each_text(function, num_flags, keys, vals,
                [&](const char* key, const char* value) { flags.emplace_back(key, value); });
  *out = cached_op_pool().create(
      std::make_unique<CachedOp>(of.copy().graph(), CachedOpFlags::parse(flags)));
}

void invoke(const char* function, CachedOpHandle handle, Device device, int num_inputs,
            NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs) {
  CachedOp& op = cached_op_of(handle, function);
  require(num_outputs, function, "num_outputs");
  require(outputs, function, "outputs");
  if (num_inputs > 0) require(inputs, function, "inputs");
  InlineVector<NDArray*, 16> in;
  InlineVector<NDArray*, 8> out;
  for (int i = 0; i < num_inputs; ++i) in.push_back(&array_of(inputs[i], function));
  const std::size_t count = op.graph().outputs().size();
  const bool given = *outputs != nullptr;
  InlineVector<NDArray, 4> made(given ? 0 : count);
  if (given) {
    if (static_cast<std::size_t>(*num_outputs) != count) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given {} outputs, expected {}", *num_outputs, count));
    }
    for (std::size_t o = 0; o < count; ++o) out.push_back(&array_of((*outputs)[o], function));
  }
  for (NDArray& array : made) out.push_back(&array);
  op.invoke(in.span(), out.span(), device);
  if (given) return;
  std::vector<NDArrayHandle>& handles = cached_op_returns().handles;
  handles.clear();
  for (NDArray& array : made) handles.push_back(new_handle(std::move(array)));
  *num_outputs = static_cast<int>(count);
  *outputs = handles.data();
}

const int* storage_types_of(int count, const NDArrayHandle* handles) {
  std::vector<int>& types = cached_op_returns().storage_types;
  types.clear();
  for (int o = 0; o < count; ++o)
    types.push_back(static_cast<int>(array_of(handles[o]).storage_type()));
  return types.data();
}

}  // namespace

int MXCreateCachedOp(SymbolHandle handle, CachedOpHandle* out) {
  return guarded([&] { create("MXCreateCachedOp", handle, 0, nullptr, nullptr, out); });
}

int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char** keys, const char** vals,
                       CachedOpHandle* out) {
  return guarded([&] { create("MXCreateCachedOpEx", handle, num_flags, keys, vals, out); });
}

int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char** keys, const char** vals,
                       CachedOpHandle* out, bool thread_safe) {
  return guarded([&] {
    static_cast<void>(thread_safe);  // all of them are
    create("MXCreateCachedOpEX", handle, num_flags, keys, vals, out);
  });
}

int MXFreeCachedOp(CachedOpHandle handle) {
  return guarded([&] { cached_op_pool().destroy(handle, "MXFreeCachedOp"); });
}

int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs, int* num_outputs,
                     NDArrayHandle** outputs) {
  return guarded(
      [&] { invoke("MXInvokeCachedOp", handle, {}, num_inputs, inputs, num_outputs, outputs); });
}

int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs,
                       int* num_outputs, NDArrayHandle** outputs, const int** out_stypes) {
  return guarded([&] {
    require(out_stypes, "MXInvokeCachedOpEx", "out_stypes");
    invoke("MXInvokeCachedOpEx", handle, {}, num_inputs, inputs, num_outputs, outputs);
    *out_stypes = storage_types_of(*num_outputs, *outputs);
  });
}

int MXCachedOpCall(CachedOpHandle handle, int dev_type, int dev_id, int num_inputs,
                   NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs,
                   const int** out_stypes) {
  return guarded([&] {
    require(out_stypes, "MXCachedOpCall", "out_stypes");
    const Device device = checked_device("MXCachedOpCall", dev_type, dev_id);
    invoke("MXCachedOpCall", handle, device, num_inputs, inputs, num_outputs, outputs);
    *out_stypes = storage_types_of(*num_outputs, *outputs);
  });
}

int MXCachedOpRegisterOpHook(NDArrayHandle handle, CachedOpMonitorCallback callback,
                             bool monitor_all) {
  return guarded([&] {
    CachedOp& op = cached_op_of(handle, "MXCachedOpRegisterOpHook");
    if (callback == nullptr) return op.set_hook({}, false);
    op.set_hook(
        // The array belongs to the callee.
        [callback](const std::string& name, const std::string& op_name, const NDArray& value) {
          callback(name.c_str(), op_name.c_str(), new_handle(value.detach()));
        },
        monitor_all);
  });
}

int MXCachedOpSetHook(CachedOpHandle handle, CachedOpHook callback, void* state, int (*drop)(void*),
                      int monitor_all) {
  // From here on the state is the library's, whatever happens.
  const auto owned = [&] {
    return std::shared_ptr<void>(state, [drop](void* pointer) {
      if (drop != nullptr) drop(pointer);
    });
  };
  return guarded([&] {
    const std::shared_ptr<void> kept = owned();
    CachedOp& op = cached_op_of(handle, "MXCachedOpSetHook");
    if (callback == nullptr) return op.set_hook({}, false);
    op.set_hook(
        [callback, kept](const std::string& name, const std::string& op_name,
                         const NDArray& value) {
          callback(name.c_str(), op_name.c_str(), new_handle(value.detach()), kept.get());
        },
        monitor_all != 0);
  });
}
