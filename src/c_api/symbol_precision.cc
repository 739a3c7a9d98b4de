// SPDX-License-Identifier: Apache-2.0
// Mixed precision of finished networks.
#include <fmt/format.h>

#include "c_api/ndarray_handle.h"
#include "c_api/symbol_calls.h"
#include "graph/reduce_precision.h"
#include "op/op_def.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

constexpr const char* kFunction = "MXReducePrecisionSymbol";

std::set<std::string> names(uint32_t count, const char** given) {
  const std::vector<std::string_view> checked = checked_names(kFunction, count, given);
  return {checked.begin(), checked.end()};
}

// Lists name operators as users do; nodes have the operator itself. Names of operators that are not
// here can be in no network.
std::string operator_name(std::string_view name) {
  const OpDef* op = Registry::get().find(name);
  return op == nullptr ? std::string(name) : op->name();
}
std::set<std::string> operators(uint32_t count, const char** given) {
  std::set<std::string> result;
  for (const std::string_view name : checked_names(kFunction, count, given))
    result.insert(operator_name(name));
  return result;
}

}  // namespace

// `ind_ptr` has the end of each condition's values in `conditional_param_vals`, after a zero. Types
// of the arguments are not needed: variables count as float32.
int MXReducePrecisionSymbol(
    SymbolHandle sym_handle, SymbolHandle* ret_sym_handle, uint32_t num_args,
    const int* arg_type_data, uint32_t num_ind_ptr, const int* ind_ptr, const int* target_dtype,
    const int cast_optional_params, const uint32_t num_target_dtype_op_names,
    const uint32_t num_fp32_op_names, const uint32_t num_widest_dtype_op_names,
    const uint32_t num_conditional_fp32_op_names, const uint32_t num_excluded_symbols,
    const uint32_t num_model_params, const char** target_dtype_op_names, const char** fp32_op_names,
    const char** widest_dtype_op_names, const char** conditional_fp32_op_names,
    const char** excluded_symbols, const char** conditional_param_names,
    const char** conditional_param_vals, const char** model_param_names, const char** arg_names) {
  return guarded([&] {
    require(ret_sym_handle, kFunction, "ret_sym_handle");
    require(target_dtype, kFunction, "target_dtype");
    const Symbol& symbol = symbol_of(sym_handle, kFunction);
    checked_names(kFunction, num_args, arg_names);
    if (num_args > 0) require(arg_type_data, kFunction, "arg_type_data");
    PrecisionOptions options;
    options.target = checked_dtype(kFunction, *target_dtype);
    options.target_ops = operators(num_target_dtype_op_names, target_dtype_op_names);
    options.fp32_ops = operators(num_fp32_op_names, fp32_op_names);
    options.widest_ops = operators(num_widest_dtype_op_names, widest_dtype_op_names);
    options.excluded = names(num_excluded_symbols, excluded_symbols);
    options.parameters = names(num_model_params, model_param_names);
    options.cast_parameters = cast_optional_params != 0;
    const uint32_t conditions = num_conditional_fp32_op_names;
    const auto ops = checked_names(kFunction, conditions, conditional_fp32_op_names);
    const auto parameters = checked_names(kFunction, conditions, conditional_param_names);
    if (conditions > 0) require(ind_ptr, kFunction, "ind_ptr");
    if (conditions >= num_ind_ptr && conditions > 0) {
      throw Error(ErrorCode::kValue, kFunction,
                  fmt::format("given {} conditions and {} bounds of their values, expected one "
                              "bound more than conditions",
                              conditions, num_ind_ptr));
    }
    for (uint32_t c = 0; c < conditions; ++c) {
      const int first = ind_ptr[c], last = ind_ptr[c + 1];
      if (first < 0 || last < first) {
        throw Error(ErrorCode::kValue, kFunction,
                    fmt::format("given values {} to {} of condition {}, expected bounds that grow",
                                first, last, c));
      }
      const auto count = static_cast<uint32_t>(last - first);
      if (count > 0) require(conditional_param_vals, kFunction, "conditional_param_vals");
      options.conditional_fp32_ops.push_back(
          {operator_name(ops[c]), std::string(parameters[c]),
           names(count, count > 0 ? conditional_param_vals + first : nullptr)});
    }
    *ret_sym_handle = new_handle(reduce_precision(symbol, options));
  });
}
