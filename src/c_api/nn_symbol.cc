// SPDX-License-Identifier: Apache-2.0
// The NN spelling of the symbol functions; handles are the same.
#include <fmt/format.h>

#include "c_api/symbol_calls.h"
#include "graph/symbol_attributes.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

Symbol::Inputs checked_inputs(const char* function, int option) {
  if (option == 0) return Symbol::Inputs::kAll;
  if (option == 1) return Symbol::Inputs::kArguments;
  if (option == 2) return Symbol::Inputs::kAuxiliary;
  throw Error(ErrorCode::kValue, function,
              fmt::format("given option {}, expected 0 (all), 1 (arguments) or 2 (auxiliary "
                          "states)",
                          option));
}

}  // namespace

int NNSymbolCreateAtomicSymbol(OpHandle op, nn_uint num_param, const char** keys, const char** vals,
                               SymbolHandle* out) {
  return create_atomic("NNSymbolCreateAtomicSymbol", op, num_param, keys, vals, out);
}

int NNSymbolCreateVariable(const char* name, SymbolHandle* out) {
  return create_variable("NNSymbolCreateVariable", name, out);
}

int NNSymbolCreateGroup(nn_uint num_symbols, SymbolHandle* symbols, SymbolHandle* out) {
  return create_group("NNSymbolCreateGroup", num_symbols, symbols, out);
}

int NNSymbolCompose(SymbolHandle sym, const char* name, nn_uint num_args, const char** keys,
                    SymbolHandle* args) {
  return compose("NNSymbolCompose", sym, name, num_args, keys, args);
}

int NNSymbolCopy(SymbolHandle symbol, SymbolHandle* out) {
  return derive("NNSymbolCopy", symbol, out, [](const Symbol& s) { return s.copy(); });
}

int NNSymbolFree(SymbolHandle symbol) { return free_symbol("NNSymbolFree", symbol); }

int NNSymbolGetAttr(SymbolHandle symbol, const char* key, const char** out, int* success) {
  return get_attr("NNSymbolGetAttr", symbol, key, out, success);
}

int NNSymbolSetAttrs(SymbolHandle symbol, nn_uint num_param, const char** keys,
                     const char** values) {
  return c_api::set_attrs("NNSymbolSetAttrs", symbol, num_param, keys, values);
}

int NNSymbolListAttrs(SymbolHandle symbol, int recursive_option, nn_uint* out_size,
                      const char*** out) {
  return guarded([&] {
    const char* const function = "NNSymbolListAttrs";
    require(out_size, function, "out_size");
    require(out, function, "out");
    if (recursive_option != 0 && recursive_option != 1) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given option {}, expected 0 (all nodes) or 1 (the output's own)",
                              recursive_option));
    }
    const Symbol& of = symbol_of(symbol, function);
    const bool all = recursive_option == 0;
    std::vector<std::string> texts;
    for (ListedAttr& attr :
         all ? list_attrs(of, BareKeys::kNo) : list_attrs_shallow(of, BareKeys::kNo)) {
      texts.push_back(all ? attr.node->name + "$" + attr.key : std::move(attr.key));
      texts.push_back(std::move(attr.value));
    }
    symbol_returns().attrs.keep(std::move(texts), out_size, out, 2);
  });
}

int NNSymbolListOutputNames(SymbolHandle symbol, nn_uint* out_size, const char*** out_str_array) {
  return list_names("NNSymbolListOutputNames", symbol, out_size, out_str_array,
                    [](const Symbol& s) { return s.list_outputs(); });
}

int NNSymbolListInputNames(SymbolHandle symbol, int option, nn_uint* out_size,
                           const char*** out_str_array) {
  return guarded([&] {
    const char* const function = "NNSymbolListInputNames";
    require(out_size, function, "out_size");
    require(out_str_array, function, "out_str_array");
    symbol_returns().names.keep(
        symbol_of(symbol, function).list_inputs(checked_inputs(function, option)), out_size,
        out_str_array);
  });
}

int NNSymbolListInputVariables(SymbolHandle symbol, int option, nn_uint* out_size,
                               SymbolHandle** out_sym_array) {
  return guarded([&] {
    const char* const function = "NNSymbolListInputVariables";
    require(out_size, function, "out_size");
    require(out_sym_array, function, "out_sym_array");
    std::vector<SymbolHandle>& handles = symbol_returns().handles;
    handles =
        new_handles(symbol_of(symbol, function).input_symbols(checked_inputs(function, option)));
    *out_size = static_cast<nn_uint>(handles.size());
    *out_sym_array = handles.data();
  });
}

int NNSymbolGetNumOutputs(SymbolHandle symbol, nn_uint* output_count) {
  return get_num_outputs("NNSymbolGetNumOutputs", symbol, output_count);
}

int NNSymbolGetOutput(SymbolHandle symbol, nn_uint index, SymbolHandle* out) {
  return get_output("NNSymbolGetOutput", symbol, index, out);
}

int NNSymbolGetInternals(SymbolHandle symbol, SymbolHandle* out) {
  return derive("NNSymbolGetInternals", symbol, out, [](const Symbol& s) { return s.internals(); });
}

int NNSymbolGetChildren(SymbolHandle symbol, SymbolHandle* out) {
  return get_children("NNSymbolGetChildren", symbol, out);
}

int NNSymbolPrint(SymbolHandle symbol, const char** out_str) {
  return print_symbol("NNSymbolPrint", symbol, out_str);
}
