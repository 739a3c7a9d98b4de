// SPDX-License-Identifier: Apache-2.0
// Operator calls on arrays: by texts, and through calls that were prepared once.
#include <charconv>

#include <fmt/format.h>

#include "c_api/guard.h"
#include "c_api/op_handle.h"
#include "c_api/run_parsed.h"
#include "mxnet/c_api_ext.h"
#include "op/inline_vector.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

using Texts = InlineVector<std::pair<std::string_view, std::string_view>, 12>;

// The attributes, borrowed; `digits` holds the number of inputs where the operator takes any number
// and the caller has not said how many.
class CallTexts {
 public:
  CallTexts(const OpDef& op, int num_inputs, int num_params, const char** keys,
            const char** values) {
    const std::string& key_num_args = op.key_var_num_args();
    bool counted = key_num_args.empty();
    for_each_text(op.name(), num_params, keys, values, [&](const char* key, const char* value) {
      const std::string_view name = key;
      for (const auto& given : texts_)
        if (given.first == name) return;  // the first counts
      texts_.emplace_back(name, value);
      counted = counted || name == key_num_args;
    });
    if (!counted) {
      const auto end = std::to_chars(digits_, digits_ + sizeof(digits_), num_inputs).ptr;
      texts_.emplace_back(key_num_args,
                          std::string_view(digits_, static_cast<std::size_t>(end - digits_)));
    }
  }
  AttrList list() const { return texts_.span(); }

 private:
  Texts texts_;
  char digits_[12];
};

// The device that the attribute "ctx" names, for operators without inputs: "cpu(0)", "gpu(1)".
Device device_of(const OpDef& op, AttrList texts) {
  for (const auto& [key, text] : texts) {
    if (key != "ctx" || text.empty()) continue;
    static constexpr std::pair<std::string_view, DeviceType> kTypes[] = {
        {"cpu", DeviceType::kCPU},
        {"gpu", DeviceType::kGPU},
        {"cpu_pinned", DeviceType::kCPUPinned},
        {"cpu_shared", DeviceType::kCPUShared}};
    const std::size_t open = text.find('(');
    if (open != text.npos && text.back() == ')') {
      int id = -1;
      const auto [end, code] =
          std::from_chars(text.data() + open + 1, text.data() + text.size() - 1, id);
      for (const auto& [word, type] : kTypes) {
        if (word == text.substr(0, open) && code == std::errc() &&
            end == text.data() + text.size() - 1)
          return checked_device(op.name(), static_cast<int>(type), id);
      }
    }
    throw Error(ErrorCode::kValue, op.name(),
                fmt::format("given ctx '{}', expected cpu(N), gpu(N), cpu_pinned(N) or "
                            "cpu_shared(N)",
                            text));
  }
  return {};
}

void invoke_by_handle(const char* function, AtomicSymbolCreator creator, int num_inputs,
                      NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs,
                      int num_params, const char** param_keys, const char** param_vals) {
  const OpDef& op = op_of(creator, function);
  require(num_outputs, function, "num_outputs");
  require(outputs, function, "outputs");
  if (num_inputs > 0) require(inputs, function, "inputs");
  run_by_texts(op, num_inputs, inputs, num_outputs, outputs, num_params, param_keys, param_vals);
}

}  // namespace

void c_api::run_by_texts(const OpDef& op, int num_inputs, NDArrayHandle* inputs, int* num_outputs,
                         NDArrayHandle** outputs, int num_params, const char** keys,
                         const char** values) {
  const CallTexts texts(op, num_inputs, num_params, keys, values);
  const ParsedAttrsRef parsed = parse_attrs(op, texts.list());
  run_parsed(parsed, num_inputs == 0 ? device_of(op, texts.list()) : Device(), num_inputs, inputs,
             num_outputs, outputs);
}

int MXImperativeInvoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle* inputs,
                       int* num_outputs, NDArrayHandle** outputs, int num_params,
                       const char** param_keys, const char** param_vals) {
  return guarded([&] {
    invoke_by_handle("MXImperativeInvoke", creator, num_inputs, inputs, num_outputs, outputs,
                     num_params, param_keys, param_vals);
  });
}

int MXImperativeInvokeEx(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle* inputs,
                         int* num_outputs, NDArrayHandle** outputs, int num_params,
                         const char** param_keys, const char** param_vals, const int** out_stypes) {
  return guarded([&] {
    require(out_stypes, "MXImperativeInvokeEx", "out_stypes");
    invoke_by_handle("MXImperativeInvokeEx", creator, num_inputs, inputs, num_outputs, outputs,
                     num_params, param_keys, param_vals);
    *out_stypes = storage_types_of(*num_outputs, *outputs);
  });
}

// A call whose attributes are read once. Immutable, so that any number of threads may use one.
namespace {
struct OpCall {
  ParsedAttrsRef parsed;
  Device device;  // for operators without inputs
};

HandlePool<OpCall>& op_call_pool() {
  static constinit HandlePool<OpCall> pool("OpCall");
  return pool;
}
}  // namespace

int MXOpCallCreate(OpHandle op_handle, int num_inputs, int num_params, const char** param_keys,
                   const char** param_vals, OpCallHandle* out) {
  return guarded([&] {
    const OpDef& op = op_of(op_handle, "MXOpCallCreate");
    require(out, "MXOpCallCreate", "out");
    const CallTexts texts(op, num_inputs, num_params, param_keys, param_vals);
    *out = op_call_pool().create({parse_attrs(op, texts.list()), device_of(op, texts.list())});
  });
}

int MXOpCallFree(OpCallHandle call) {
  return guarded([&] {
    if (call != nullptr) op_call_pool().destroy(call, "MXOpCallFree");
  });
}

int MXOpCallInvoke(OpCallHandle handle, int num_inputs, NDArrayHandle* inputs, int* num_outputs,
                   NDArrayHandle** outputs, const int** out_stypes) {
  return guarded([&] {
    const OpCall& call = op_call_pool().get(handle, "MXOpCallInvoke");
    require(num_outputs, "MXOpCallInvoke", "num_outputs");
    require(outputs, "MXOpCallInvoke", "outputs");
    require(out_stypes, "MXOpCallInvoke", "out_stypes");
    if (num_inputs > 0) require(inputs, "MXOpCallInvoke", "inputs");
    run_parsed(call.parsed, call.device, num_inputs, inputs, num_outputs, outputs);
    *out_stypes = storage_types_of(*num_outputs, *outputs);
  });
}
