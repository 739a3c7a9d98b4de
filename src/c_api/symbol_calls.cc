// SPDX-License-Identifier: Apache-2.0
// Bodies that MX and NN functions share.
#include "c_api/symbol_calls.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/symbol_attributes.h"

namespace mxnet::c_api {

int create_atomic(const char* function, void* op, uint32_t num_param, const char** keys,
                  const char** values, SymbolHandle* out) {
  return guarded(function, [&] {
    require(out, function, "out");
    Attrs attrs;
    for (auto& attr : with_hidden_keys(checked_attrs(function, num_param, keys, values))) {
      const bool known = std::any_of(attrs.begin(), attrs.end(),
                                     [&](const auto& given) { return given.first == attr.first; });
      if (!known) attrs.push_back(std::move(attr));  // the first counts
    }
    *out = new_handle(Symbol::atomic(op_of(op, function), std::move(attrs)));
  });
}

int create_variable(const char* function, const char* name, SymbolHandle* out) {
  return guarded(function, [&] {
    require(name, function, "name");
    require(out, function, "out");
    *out = new_handle(Symbol::variable(name));
  });
}

int create_group(const char* function, uint32_t count, SymbolHandle* symbols, SymbolHandle* out) {
  return guarded(function, [&] {
    require(out, function, "out");
    *out = new_handle(Symbol::group(checked_symbols(function, count, symbols)));
  });
}

int compose(const char* function, SymbolHandle symbol, const char* name, uint32_t num_args,
            const char** keys, SymbolHandle* args) {
  return guarded(function, [&] {
    Symbol& target = symbol_of(symbol, function);
    const auto given = checked_symbols(function, num_args, args);
    std::vector<std::string_view> names;
    if (keys != nullptr) names = checked_names(function, num_args, keys);
    target.compose(name == nullptr ? "" : name, names, given);
  });
}

int free_symbol(const char* function, SymbolHandle symbol) {
  return guarded(function, [&] { symbol_pool().destroy(symbol, function); });
}

int get_attr(const char* function, SymbolHandle symbol, const char* key, const char** out,
             int* success) {
  return guarded(function, [&] {
    require(key, function, "key");
    require(out, function, "out");
    require(success, function, "success");
    std::optional<std::string> value = mxnet::get_attr(symbol_of(symbol, function), key);
    *success = value ? 1 : 0;
    *out = value ? keep_for_caller(*std::move(value)) : nullptr;
  });
}

int set_attrs(const char* function, SymbolHandle symbol, uint32_t count, const char** keys,
              const char** values) {
  return guarded(function, [&] {
    mxnet::set_attrs(&symbol_of(symbol, function), checked_attrs(function, count, keys, values));
  });
}

int get_output(const char* function, SymbolHandle symbol, uint32_t index, SymbolHandle* out) {
  return guarded(function, [&] {
    require(out, function, "out");
    *out = new_handle(symbol_of(symbol, function).output(index));
  });
}

int get_num_outputs(const char* function, SymbolHandle symbol, uint32_t* count) {
  return guarded(function, [&] {
    require(count, function, "output_count");
    *count = static_cast<uint32_t>(symbol_of(symbol, function).outputs().size());
  });
}

int list_names(const char* function, SymbolHandle symbol, uint32_t* out_size,
               const char*** out_array, std::vector<std::string> (*list)(const Symbol&)) {
  return guarded(function, [&] {
    require(out_size, function, "out_size");
    require(out_array, function, "out_str_array");
    symbol_returns().names.keep(list(symbol_of(symbol, function)), out_size, out_array);
  });
}

int print_symbol(const char* function, SymbolHandle symbol, const char** out) {
  return guarded(function, [&] {
    require(out, function, "out_str");
    *out = keep_for_caller(symbol_of(symbol, function).debug_text());
  });
}

int get_children(const char* function, SymbolHandle symbol, SymbolHandle* out) {
  return guarded(function, [&] {
    require(out, function, "out");
    *out = new_handle(symbol_of(symbol, function).children());  // without outputs for a variable
  });
}

int derive(const char* function, SymbolHandle symbol, SymbolHandle* out,
           Symbol (*make)(const Symbol&)) {
  return guarded(function, [&] {
    require(out, function, "out");
    *out = new_handle(make(symbol_of(symbol, function)));
  });
}

}  // namespace mxnet::c_api
