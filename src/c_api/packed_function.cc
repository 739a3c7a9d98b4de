// SPDX-License-Identifier: Apache-2.0
// Functions by name on typed values, and the small immutable objects (integers, tuples) that
// front ends make out of shapes and axes to call them.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "c_api/guard.h"
#include "c_api/handle_pool.h"
#include "c_api/ndarray_handle.h"
#include "c_api/run_parsed.h"
#include "mxnet/runtime/c_runtime_api.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

constexpr int kInt = 0;  // as DLPack numbers it

// An integer, or a tuple of such objects.
struct Object {
  std::variant<int64_t, std::vector<Object>> value;
};

HandlePool<Object>& object_pool() {
  static constinit HandlePool<Object> pool("Object");
  return pool;
}

struct Argument {
  const MXNetValue& value;
  int kind;
};
struct Result {
  MXNetValue value{};
  int kind = kNull;
};

[[noreturn]] void complain(const char* function, std::size_t i, int kind, const char* expected) {
  throw Error(
      ErrorCode::kType, function,
      fmt::format("given a value of kind {} as argument {}, expected {}", kind, i, expected));
}

class Arguments {
 public:
  Arguments(const char* function, const MXNetValue* values, const int* kinds, int count)
      : function_(function), values_(values), kinds_(kinds), count_(count) {}

  const char* function() const { return function_; }
  std::size_t count() const { return static_cast<std::size_t>(count_); }
  int kind(std::size_t i) const { return kinds_[i]; }
  void expect(std::size_t count) const {
    if (this->count() == count) return;
    throw Error(ErrorCode::kType, function_,
                fmt::format("given {} arguments, expected {}", count_, count));
  }
  Object object(std::size_t i) const {
    if (kinds_[i] == kInt) return {values_[i].v_int64};
    if (kinds_[i] != kObjectHandle) complain(function_, i, kinds_[i], "an integer or an object");
    return object_pool().get(values_[i].v_handle, function_);
  }
  int64_t integer(std::size_t i) const {
    if (kinds_[i] != kInt) complain(function_, i, kinds_[i], "an integer");
    return values_[i].v_int64;
  }
  // Null where None is given.
  const char* text_or_none(std::size_t i) const {
    if (kinds_[i] == kNull) return nullptr;
    if (kinds_[i] != kStr) complain(function_, i, kinds_[i], "a text or None");
    require(values_[i].v_str, function_, "a text");
    return values_[i].v_str;
  }
  NDArrayHandle array(std::size_t i) const {
    if (kinds_[i] != kNDArrayHandle) complain(function_, i, kinds_[i], "an array");
    array_of(values_[i].v_handle, function_);
    return values_[i].v_handle;
  }

 private:
  const char* function_;
  const MXNetValue* values_;
  const int* kinds_;
  int count_;
};

// "(2, 3)", from a tuple of integers or one integer.
std::string tuple_text(const char* function, const Object& object) {
  if (const auto* one = std::get_if<int64_t>(&object.value)) return fmt::format("({},)", *one);
  std::string text = "(";
  for (const Object& item : std::get<std::vector<Object>>(object.value)) {
    const auto* number = std::get_if<int64_t>(&item.value);
    if (number == nullptr) {
      throw Error(ErrorCode::kType, function, "given a tuple of tuples, expected one of integers");
    }
    text += fmt::format("{},", *number);
  }
  return text + ")";
}

Result run_operator(const char* op, std::vector<NDArrayHandle> inputs,
                    const std::vector<std::pair<const char*, std::string>>& params) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : params) {
    keys.push_back(key);
    values.push_back(value.c_str());
  }
  int num_outputs = 0;
  NDArrayHandle* outputs = nullptr;
  run_by_texts(Registry::get().at(op), static_cast<int>(inputs.size()), inputs.data(), &num_outputs,
               &outputs, static_cast<int>(keys.size()), keys.data(), values.data());
  Result result;
  result.value.v_handle = outputs[0];
  result.kind = kNDArrayHandle;
  return result;
}

Result object_result(Object object) {
  Result result;
  result.value.v_handle = object_pool().create(std::move(object));
  result.kind = kObjectHandle;
  return result;
}

Result make_tuple(const Arguments& arguments) {
  std::vector<Object> items;
  for (std::size_t i = 0; i < arguments.count(); ++i) items.push_back(arguments.object(i));
  return object_result({std::move(items)});
}

Result make_integer(const Arguments& arguments) {
  arguments.expect(1);
  return object_result({arguments.integer(0)});
}

Result do_nothing(const Arguments&) { return {}; }

Result zeros(const Arguments& arguments) {
  arguments.expect(3);
  std::vector<std::pair<const char*, std::string>> params{
      {"shape", tuple_text(arguments.function(), arguments.object(0))}};
  if (const char* dtype = arguments.text_or_none(1)) params.emplace_back("dtype", dtype);
  if (const char* device = arguments.text_or_none(2)) params.emplace_back("ctx", device);
  return run_operator("_npi_zeros", {}, params);
}

// axes: a number, or (axes of a, axes of b), each a number or a tuple.
Result tensordot(const Arguments& arguments) {
  arguments.expect(3);
  const std::vector<NDArrayHandle> inputs{arguments.array(0), arguments.array(1)};
  if (arguments.kind(2) == kInt) {
    return run_operator("_npi_tensordot_int_axes", inputs,
                        {{"axes", std::to_string(arguments.integer(2))}});
  }
  const Object axes = arguments.object(2);
  const auto* pair = std::get_if<std::vector<Object>>(&axes.value);
  if (pair == nullptr || pair->size() != 2) {
    throw Error(ErrorCode::kValue, arguments.function(),
                "given axes that are no pair, expected a number or (axes of a, axes of b)");
  }
  return run_operator("_npi_tensordot", inputs,
                      {{"a_axes_summed", tuple_text(arguments.function(), (*pair)[0])},
                       {"b_axes_summed", tuple_text(arguments.function(), (*pair)[1])}});
}

struct PackedFunction {
  const char* name;
  Result (*run)(const Arguments& arguments);
};
constexpr std::array<PackedFunction, 5> kFunctions{{{"_ADT", make_tuple},
                                                    {"_Integer", make_integer},
                                                    {"_nop", do_nothing},
                                                    {"_npi.tensordot", tensordot},
                                                    {"_npi.zeros", zeros}}};

const PackedFunction& function_of(MXNetFunctionHandle handle, const char* function) {
  for (const PackedFunction& known : kFunctions)
    if (&known == handle) return known;
  throw Error(ErrorCode::kValue, function,
              handle == nullptr ? "given null for func, expected a function"
                                : "given a handle of another kind, expected a function");
}

}  // namespace

int MXNetFuncListGlobalNames(int* out_size, const char*** out_array) {
  return guarded([&] {
    require(out_size, "MXNetFuncListGlobalNames", "out_size");
    require(out_array, "MXNetFuncListGlobalNames", "out_array");
    static std::array<const char*, kFunctions.size()> names = [] {
      std::array<const char*, kFunctions.size()> all{};
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = kFunctions[i].name;
      return all;
    }();
    *out_size = static_cast<int>(names.size());
    *out_array = names.data();
  });
}

int MXNetFuncGetGlobal(const char* name, MXNetFunctionHandle* out) {
  return guarded([&] {
    require(name, "MXNetFuncGetGlobal", "name");
    require(out, "MXNetFuncGetGlobal", "out");
    *out = nullptr;
    for (const PackedFunction& function : kFunctions)
      if (std::strcmp(function.name, name) == 0) *out = const_cast<PackedFunction*>(&function);
  });
}

int MXNetFuncFree(MXNetFunctionHandle func) {
  return guarded([&] { function_of(func, "MXNetFuncFree"); });
}

int MXNetFuncCall(MXNetFunctionHandle func, MXNetValue* arg_values, int* type_codes, int num_args,
                  MXNetValue* ret_val, int* ret_type_code) {
  return guarded([&] {
    const PackedFunction& function = function_of(func, "MXNetFuncCall");
    if (num_args > 0) {
      require(arg_values, "MXNetFuncCall", "arg_values");
      require(type_codes, "MXNetFuncCall", "type_codes");
    }
    require(ret_val, "MXNetFuncCall", "ret_val");
    require(ret_type_code, "MXNetFuncCall", "ret_type_code");
    const Result result =
        function.run(Arguments(function.name, arg_values, type_codes, std::max(num_args, 0)));
    *ret_val = result.value;
    *ret_type_code = result.kind;
  });
}

int MXNetObjectFree(MXNetObjectHandle obj) {
  return guarded([&] { object_pool().destroy(obj, "MXNetObjectFree"); });
}
