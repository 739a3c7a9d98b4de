// SPDX-License-Identifier: Apache-2.0
// The four functions on arrays that are older than operators. Three are the operators of the same
// names by now; this file keeps their descriptions and their way of passing arguments. A call of
// _imdecode is an error, as it always was: its image is a string, which ends at its first zero
// byte.
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "exec/imperative.h"
#include "op/inline_vector.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

// In bits: arrays come before scalars; empty arrays are accepted as targets.
constexpr int kArraysFirst = 1, kAcceptsEmptyTarget = 4;

struct LegacyFunction {
  const char* name;
  const char* doc;
  uint32_t num_use_vars, num_scalars, num_mutate_vars;
  int type_mask;
  std::array<const char*, 8> arg_names, arg_types;
  uint32_t num_args;
};

// clang-format off
constexpr std::array<LegacyFunction, 4> kFunctions{{
    {"_imdecode", "Decodes an image, cut and with a mean subtracted.", 1, 7, 1, kArraysFirst | kAcceptsEmptyTarget,
     {"mean", "index", "x0", "y0", "x1", "y1", "c", "size"},
     {"NDArray-or-Symbol", "int", "int", "int", "int", "int", "int", "int"}, 8},
    {"_onehot_encode", "Rows of zeros with a one at the index.", 2, 0, 1, kArraysFirst | kAcceptsEmptyTarget,
     {"lhs", "rhs"}, {"NDArray", "NDArray"}, 2},
    {"_set_value", "Sets all elements.", 0, 1, 1, 0, {"src"}, {"real_t"}, 1},
    {"fill_element_0index", "Sets in each row of lhs the element at the index in rhs to the value in mhs.", 3, 0, 1,
     kArraysFirst | kAcceptsEmptyTarget, {"lhs", "mhs", "rhs"}, {"NDArray", "NDArray", "NDArray"}, 3},
}};
// clang-format on

const LegacyFunction& function_of(FunctionHandle handle, const char* caller) {
  for (const LegacyFunction& function : kFunctions)
    if (&function == handle) return function;
  throw Error(ErrorCode::kValue, caller,
              handle == nullptr ? "given null, expected a function handle"
                                : "given a handle of another kind, expected a function handle");
}

void run_function(const char* caller, FunctionHandle fun, NDArrayHandle* use_vars,
                  const float* scalar_args, NDArrayHandle* mutate_vars, int num_params, char** keys,
                  char** values) {
  const LegacyFunction& function = function_of(fun, caller);
  if (function.num_use_vars > 0) require(use_vars, caller, "use_vars");
  if (function.num_scalars > 0) require(scalar_args, caller, "scalar_args");
  require(mutate_vars, caller, "mutate_vars");
  std::array<std::string, 8> numbers;
  InlineVector<std::pair<std::string_view, std::string_view>, 12> attrs;
  for (uint32_t i = 0; i < function.num_scalars; ++i) {
    numbers[i] = fmt::format("{:.9g}", scalar_args[i]);
    attrs.emplace_back(function.arg_names[function.num_args - function.num_scalars + i],
                       numbers[i]);
  }
  for_each_text(caller, num_params, keys, values,
                [&](const char* key, const char* value) { attrs.emplace_back(key, value); });
  InlineVector<NDArray*, 4> in, out;
  for (uint32_t i = 0; i < function.num_use_vars; ++i) in.push_back(&array_of(use_vars[i]));
  for (uint32_t i = 0; i < function.num_mutate_vars; ++i) out.push_back(&array_of(mutate_vars[i]));
  imperative_invoke(parse_attrs(Registry::get().at(function.name), attrs.span()), in.span(),
                    out.span());
}

}  // namespace

int MXListFunctions(uint32_t* out_size, FunctionHandle** out_array) {
  return guarded([&] {
    require(out_size, "MXListFunctions", "out_size");
    require(out_array, "MXListFunctions", "out_array");
    static std::array<FunctionHandle, kFunctions.size()> handles = [] {
      std::array<FunctionHandle, kFunctions.size()> all{};
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = &kFunctions[i];
      return all;
    }();
    *out_size = static_cast<uint32_t>(handles.size());
    *out_array = handles.data();
  });
}

int MXGetFunction(const char* name, FunctionHandle* out) {
  return guarded([&] {
    require(name, "MXGetFunction", "name");
    require(out, "MXGetFunction", "out");
    for (const LegacyFunction& function : kFunctions) {
      if (std::strcmp(function.name, name) != 0) continue;
      *out = &function;
      return;
    }
    throw Error(ErrorCode::kValue, "MXGetFunction",
                fmt::format("given '{}', expected one of those that MXListFunctions lists", name));
  });
}

int MXFuncGetInfo(FunctionHandle fun, const char** name, const char** description,
                  uint32_t* num_args, const char*** arg_names, const char*** arg_type_infos,
                  const char*** arg_descriptions, const char** return_type) {
  return guarded([&] {
    const LegacyFunction& function = function_of(fun, "MXFuncGetInfo");
    require(name, "MXFuncGetInfo", "name");
    require(description, "MXFuncGetInfo", "description");
    require(num_args, "MXFuncGetInfo", "num_args");
    require(arg_names, "MXFuncGetInfo", "arg_names");
    require(arg_type_infos, "MXFuncGetInfo", "arg_type_infos");
    require(arg_descriptions, "MXFuncGetInfo", "arg_descriptions");
    static std::array<const char*, 8> no_docs{"", "", "", "", "", "", "", ""};
    *name = function.name;
    *description = function.doc;
    *num_args = function.num_args;
    *arg_names = const_cast<const char**>(function.arg_names.data());
    *arg_type_infos = const_cast<const char**>(function.arg_types.data());
    *arg_descriptions = no_docs.data();
    if (return_type != nullptr) *return_type = "";
  });
}

int MXFuncDescribe(FunctionHandle fun, uint32_t* num_use_vars, uint32_t* num_scalars,
                   uint32_t* num_mutate_vars, int* type_mask) {
  return guarded([&] {
    const LegacyFunction& function = function_of(fun, "MXFuncDescribe");
    require(num_use_vars, "MXFuncDescribe", "num_use_vars");
    require(num_scalars, "MXFuncDescribe", "num_scalars");
    require(num_mutate_vars, "MXFuncDescribe", "num_mutate_vars");
    require(type_mask, "MXFuncDescribe", "type_mask");
    *num_use_vars = function.num_use_vars;
    *num_scalars = function.num_scalars;
    *num_mutate_vars = function.num_mutate_vars;
    *type_mask = function.type_mask;
  });
}

int MXFuncInvoke(FunctionHandle fun, NDArrayHandle* use_vars, float* scalar_args,
                 NDArrayHandle* mutate_vars) {
  return guarded([&] {
    run_function("MXFuncInvoke", fun, use_vars, scalar_args, mutate_vars, 0, nullptr, nullptr);
  });
}

int MXFuncInvokeEx(FunctionHandle fun, NDArrayHandle* use_vars, float* scalar_args,
                   NDArrayHandle* mutate_vars, int num_params, char** param_keys,
                   char** param_vals) {
  return guarded([&] {
    run_function("MXFuncInvokeEx", fun, use_vars, scalar_args, mutate_vars, num_params, param_keys,
                 param_vals);
  });
}
