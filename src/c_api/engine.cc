// SPDX-License-Identifier: Apache-2.0
// The dependency engine for C programs: functions of theirs as operations.
#include "engine/engine.h"

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/config_types.h"
#include "base/thread_end.h"
#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "engine/interrupt.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"

using namespace mxnet;
using c_api::guarded;
using c_api::require;

namespace {

// The caller's parameter: its deleter runs exactly once, wherever the last owner ends.
class Parameter {
 public:
  Parameter(void* value, EngineFuncParamDeleter deleter) : value_(value), deleter_(deleter) {}
  Parameter(Parameter&& other) noexcept
      : value_(other.value_), deleter_(std::exchange(other.deleter_, nullptr)) {}
  Parameter& operator=(Parameter&&) = delete;
  ~Parameter() {
    if (deleter_ != nullptr) or_stay([this] { deleter_(value_); });
  }
  void* get() const { return value_; }

 private:
  void* value_;
  EngineFuncParamDeleter deleter_;
};

// Ends the operation of which `param` is the OnComplete (see AsyncCall) and frees that.
void complete(void* /*engine*/, void* param, const void* error) {
  const std::unique_ptr<OnComplete> done(static_cast<OnComplete*>(param));
  if (error == nullptr) {
    (*done)();
  } else {
    const char* text = static_cast<const std::exception*>(error)->what();
    done->fail(std::make_exception_ptr(Error(ErrorCode::kGeneric, text)));
  }
}

struct SyncCall {
  EngineSyncFunc function;
  Parameter parameter;
  void operator()(const RunContext& context) const {
    RunContext mine = context;
    or_stay([&] { function(&mine, parameter.get()); });
  }
};

struct AsyncCall {
  EngineAsyncFunc function;
  Parameter parameter;
  void operator()(const RunContext& context, OnComplete done) const {
    RunContext mine = context;
    // Owned by whoever completes. A C++ function that throws has perhaps completed before: then
    // nobody may free it here.
    auto* owned = new OnComplete(done);
    MXEngineOnComplete on_complete{&complete, nullptr, owned};
    or_stay([&] { function(&mine, &on_complete, parameter.get()); });
  }
};

std::span<Var* const> variables(const char* function, const char* name, EngineVarHandle array,
                                int count) {
  if (count < 0) {
    throw Error(ErrorCode::kValue, function,
                fmt::format("given {} variables in {}, expected 0 or more", count, name));
  }
  if (count > 0) require(array, function, name);
  const std::span<Var* const> all(static_cast<Var* const*>(array), static_cast<std::size_t>(count));
  for (const Var* variable : all) require(variable, function, name);
  return all;
}

FnProperty property(const char* function, EngineFnPropertyHandle handle) {
  if (handle == nullptr) return FnProperty::kNormal;
  const int value = *static_cast<const int32_t*>(handle);
  if (value < 0 || value > static_cast<int>(FnProperty::kNoSkip)) {
    throw Error(ErrorCode::kValue, function,
                fmt::format("given property {}, expected 0 to 7", value));
  }
  return static_cast<FnProperty>(value);
}

// What both kinds of push have in common.
struct Target {
  ContextHandle context;
  EngineVarHandle reads;
  int read_count;
  EngineVarHandle writes;
  int write_count;
  EngineFnPropertyHandle property;
  int priority;
  const char* name;
};

OpSpec make_spec(const char* function, const Target& target) {
  require(target.context, function, "ctx_handle");
  const auto& context = *static_cast<const MXContext*>(target.context);
  OpSpec spec;
  spec.device = c_api::checked_device(function, context.dev_type, context.dev_id);
  spec.reads = variables(function, "const_vars_handle", target.reads, target.read_count);
  spec.writes = variables(function, "mutable_vars_handle", target.writes, target.write_count);
  spec.property = property(function, target.property);
  spec.priority = target.priority;
  // The engine keeps the pointer, the caller need not keep the text.
  spec.name = target.name != nullptr ? interned(target.name).c_str() : nullptr;
  return spec;
}

// The variables of arrays, each once and none among those that `but` lists: views share theirs.
std::vector<Var*> variables_of(const char* function, const char* name, NDArrayHandle* arrays,
                               int count, std::span<Var* const> but = {}) {
  if (count < 0) {
    throw Error(ErrorCode::kValue, function,
                fmt::format("given {} arrays in {}, expected 0 or more", count, name));
  }
  if (count > 0) require(arrays, function, name);
  std::vector<Var*> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const NDArray& array = c_api::array_of(arrays[i], function);
    require_data(array, function);
    Var* var = array.var();
    if (std::find(but.begin(), but.end(), var) == but.end() &&
        std::find(all.begin(), all.end(), var) == all.end())
      all.push_back(var);
  }
  return all;
}

}  // namespace

int MXNDArrayWaitAll(void) {
  return guarded([] { Engine::get().wait_for_all(); });
}

int MXEngineSetBulkSize(int bulk_size, int* prev_bulk_size) {
  return guarded([&] {
    require(prev_bulk_size, "MXEngineSetBulkSize", "prev_bulk_size");
    if (bulk_size < 0) {
      throw Error(ErrorCode::kValue, "MXEngineSetBulkSize",
                  fmt::format("given {}, expected 0 or more", bulk_size));
    }
    *prev_bulk_size = Engine::get().set_bulk_size(bulk_size);
  });
}

int MXEnginePushAsync(EngineAsyncFunc async_func, void* func_param, EngineFuncParamDeleter deleter,
                      ContextHandle ctx_handle, EngineVarHandle const_vars_handle,
                      int num_const_vars, EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                      EngineFnPropertyHandle prop_handle, int priority, const char* opr_name,
                      bool wait) {
  Parameter parameter(func_param,
                      deleter);  // outside: the deleter runs even if the library does not start
  return guarded([&] {
    require(reinterpret_cast<const void*>(async_func), "MXEnginePushAsync", "async_func");
    const OpSpec spec = make_spec(
        "MXEnginePushAsync", {ctx_handle, const_vars_handle, num_const_vars, mutable_vars_handle,
                              num_mutable_vars, prop_handle, priority, opr_name});
    Engine::get().push_async(AsyncCall{async_func, std::move(parameter)}, spec);
    if (wait) Engine::get().flush_bulk();
  });
}

int MXEnginePushSync(EngineSyncFunc sync_func, void* func_param, EngineFuncParamDeleter deleter,
                     ContextHandle ctx_handle, EngineVarHandle const_vars_handle,
                     int num_const_vars, EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                     EngineFnPropertyHandle prop_handle, int priority, const char* opr_name) {
  Parameter parameter(func_param, deleter);
  return guarded([&] {
    require(reinterpret_cast<const void*>(sync_func), "MXEnginePushSync", "sync_func");
    const OpSpec spec = make_spec(
        "MXEnginePushSync", {ctx_handle, const_vars_handle, num_const_vars, mutable_vars_handle,
                             num_mutable_vars, prop_handle, priority, opr_name});
    Engine::get().push(SyncCall{sync_func, std::move(parameter)}, spec);
  });
}

int MXEnginePushAsyncND(EngineAsyncFunc async_func, void* func_param,
                        EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                        NDArrayHandle* const_nds_handle, int num_const_nds,
                        NDArrayHandle* mutable_nds_handle, int num_mutable_nds,
                        EngineFnPropertyHandle prop_handle, int priority, const char* opr_name,
                        bool wait) {
  Parameter parameter(func_param, deleter);
  return guarded([&] {
    require(reinterpret_cast<const void*>(async_func), "MXEnginePushAsyncND", "async_func");
    std::vector<Var*> writes = variables_of("MXEnginePushAsyncND", "mutable_nds_handle",
                                            mutable_nds_handle, num_mutable_nds);
    std::vector<Var*> reads = variables_of("MXEnginePushAsyncND", "const_nds_handle",
                                           const_nds_handle, num_const_nds, writes);
    const OpSpec spec =
        make_spec("MXEnginePushAsyncND",
                  {ctx_handle, reads.data(), static_cast<int>(reads.size()), writes.data(),
                   static_cast<int>(writes.size()), prop_handle, priority, opr_name});
    Engine::get().push_async(AsyncCall{async_func, std::move(parameter)}, spec);
    if (wait) Engine::get().flush_bulk();
  });
}

int MXEnginePushSyncND(EngineSyncFunc sync_func, void* func_param, EngineFuncParamDeleter deleter,
                       ContextHandle ctx_handle, NDArrayHandle* const_nds_handle, int num_const_nds,
                       NDArrayHandle* mutable_nds_handle, int num_mutable_nds,
                       EngineFnPropertyHandle prop_handle, int priority, const char* opr_name) {
  Parameter parameter(func_param, deleter);
  return guarded([&] {
    require(reinterpret_cast<const void*>(sync_func), "MXEnginePushSyncND", "sync_func");
    std::vector<Var*> writes = variables_of("MXEnginePushSyncND", "mutable_nds_handle",
                                            mutable_nds_handle, num_mutable_nds);
    std::vector<Var*> reads = variables_of("MXEnginePushSyncND", "const_nds_handle",
                                           const_nds_handle, num_const_nds, writes);
    const OpSpec spec =
        make_spec("MXEnginePushSyncND",
                  {ctx_handle, reads.data(), static_cast<int>(reads.size()), writes.data(),
                   static_cast<int>(writes.size()), prop_handle, priority, opr_name});
    Engine::get().push(SyncCall{sync_func, std::move(parameter)}, spec);
  });
}

int MXEngineNewVariable(EngineVarHandle* out) {
  return guarded([&] {
    require(out, "MXEngineNewVariable", "out");
    *out = Engine::get().new_variable();
  });
}

int MXEngineDeleteVariable(EngineVarHandle var) {
  return guarded([&] {
    require(var, "MXEngineDeleteVariable", "var");
    Engine::get().delete_variable(static_cast<Var*>(var), Device::cpu());
  });
}

int MXEngineWaitForVariable(EngineVarHandle var) {
  return guarded([&] {
    require(var, "MXEngineWaitForVariable", "var");
    Engine::get().wait_for_var(static_cast<Var*>(var));
  });
}

int MXEngineGetVariableVersion(EngineVarHandle var, uint64_t* out) {
  return guarded([&] {
    require(var, "MXEngineGetVariableVersion", "var");
    require(out, "MXEngineGetVariableVersion", "out");
    *out = Engine::get().version(static_cast<const Var*>(var));
  });
}

int MXEngineComplete(const MXEngineOnComplete* on_complete, const char* error) {
  return guarded([&] {
    require(on_complete, "MXEngineComplete", "on_complete");
    require(reinterpret_cast<const void*>(on_complete->callback), "MXEngineComplete",
            "on_complete->callback");
    if (error == nullptr) {
      on_complete->callback(on_complete->engine, on_complete->param, nullptr);
    } else {
      const std::runtime_error failure(error);
      // Through std::exception, the type that the callback expects behind the pointer.
      on_complete->callback(on_complete->engine, on_complete->param,
                            static_cast<const std::exception*>(&failure));
    }
  });
}

int MXSetInterruptCheck(int (*check)(void)) {
  return guarded([&] { engine::set_interrupt_check(check); });
}
