// SPDX-License-Identifier: Apache-2.0
// Making and freeing symbols, attributes, names and parts of them.
#include "c_api/symbol_calls.h"
#include "graph/load.h"
#include "graph/symbol_attributes.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

std::vector<std::string> arguments(const Symbol& symbol) {
  return symbol.list_inputs(Symbol::Inputs::kArguments);
}
std::vector<std::string> auxiliary(const Symbol& symbol) {
  return symbol.list_inputs(Symbol::Inputs::kAuxiliary);
}
std::vector<std::string> outputs(const Symbol& symbol) { return symbol.list_outputs(); }

// Key and value, alternating.
std::vector<std::string> texts_of(const std::vector<ListedAttr>& attrs, bool with_node) {
  std::vector<std::string> texts;
  for (const ListedAttr& attr : attrs) {
    texts.push_back(with_node ? attr.node->name + "$" + attr.key : attr.key);
    texts.push_back(attr.value);
  }
  return texts;
}

void keep_attrs(const char* function, const std::vector<ListedAttr>& attrs, bool with_node,
                uint32_t* out_size, const char*** out) {
  require(out_size, function, "out_size");
  require(out, function, "out");
  symbol_returns().attrs.keep(texts_of(attrs, with_node), out_size, out, 2);
}

}  // namespace

int MXSymbolCreateAtomicSymbol(AtomicSymbolCreator creator, uint32_t num_param, const char** keys,
                               const char** vals, SymbolHandle* out) {
  return create_atomic("MXSymbolCreateAtomicSymbol", creator, num_param, keys, vals, out);
}

int MXSymbolCreateVariable(const char* name, SymbolHandle* out) {
  return create_variable("MXSymbolCreateVariable", name, out);
}

int MXSymbolCreateGroup(uint32_t num_symbols, SymbolHandle* symbols, SymbolHandle* out) {
  return create_group("MXSymbolCreateGroup", num_symbols, symbols, out);
}

int MXSymbolCompose(SymbolHandle sym, const char* name, uint32_t num_args, const char** keys,
                    SymbolHandle* args) {
  return compose("MXSymbolCompose", sym, name, num_args, keys, args);
}

int MXSymbolCopy(SymbolHandle symbol, SymbolHandle* out) {
  return derive("MXSymbolCopy", symbol, out, [](const Symbol& s) { return s.copy(); });
}

int MXShallowCopySymbol(SymbolHandle src, SymbolHandle* out) {
  return derive("MXShallowCopySymbol", src, out, [](const Symbol& s) { return s; });
}

int MXSymbolFree(SymbolHandle symbol) { return free_symbol("MXSymbolFree", symbol); }

int MXGenAtomicSymbolFromSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle) {
  return derive("MXGenAtomicSymbolFromSymbol", sym_handle, ret_sym_handle, [](const Symbol& s) {
    const ir::Node* node = s.node();
    if (node == nullptr || node->is_variable()) {
      throw Error(
          ErrorCode::kValue, "MXGenAtomicSymbolFromSymbol",
          "given a symbol without an operator of its own, expected outputs of one operator");
    }
    return Symbol::atomic(*node->op, node->attrs);
  });
}

int MXSymbolCreateFromFile(const char* fname, SymbolHandle* out) {
  return guarded([&] {
    require(fname, "MXSymbolCreateFromFile", "fname");
    require(out, "MXSymbolCreateFromFile", "out");
    *out = new_handle(load_symbol_file(fname));
  });
}

int MXSymbolCreateFromJSON(const char* json, SymbolHandle* out) {
  return guarded([&] {
    require(json, "MXSymbolCreateFromJSON", "json");
    require(out, "MXSymbolCreateFromJSON", "out");
    *out = new_handle(load_symbol(json));
  });
}

int MXSymbolSaveToFile(SymbolHandle symbol, const char* fname) {
  return guarded([&] {
    require(fname, "MXSymbolSaveToFile", "fname");
    save_symbol_file(symbol_of(symbol, "MXSymbolSaveToFile"), fname);
  });
}

int MXSymbolSaveToJSON(SymbolHandle symbol, const char** out_json) {
  return guarded([&] {
    require(out_json, "MXSymbolSaveToJSON", "out_json");
    *out_json = keep_for_caller(save_symbol(symbol_of(symbol, "MXSymbolSaveToJSON")));
  });
}

int MXSymbolGetName(SymbolHandle symbol, const char** out, int* success) {
  return get_attr("MXSymbolGetName", symbol, "name", out, success);
}

int MXSymbolGetAttr(SymbolHandle symbol, const char* key, const char** out, int* success) {
  return get_attr("MXSymbolGetAttr", symbol, key, out, success);
}

int MXSymbolSetAttr(SymbolHandle symbol, const char* key, const char* value) {
  return c_api::set_attrs("MXSymbolSetAttr", symbol, 1, &key, &value);
}

int MXSymbolListAttr(SymbolHandle symbol, uint32_t* out_size, const char*** out) {
  return guarded([&] {
    const Symbol& of = symbol_of(symbol, "MXSymbolListAttr");
    keep_attrs("MXSymbolListAttr", list_attrs(of, BareKeys::kYes), true, out_size, out);
  });
}

int MXSymbolListAttrShallow(SymbolHandle symbol, uint32_t* out_size, const char*** out) {
  return guarded([&] {
    const Symbol& of = symbol_of(symbol, "MXSymbolListAttrShallow");
    keep_attrs("MXSymbolListAttrShallow", list_attrs_shallow(of, BareKeys::kYes), false, out_size,
               out);
  });
}

int MXSymbolListArguments(SymbolHandle symbol, uint32_t* out_size, const char*** out_str_array) {
  return list_names("MXSymbolListArguments", symbol, out_size, out_str_array, arguments);
}

int MXSymbolListAuxiliaryStates(SymbolHandle symbol, uint32_t* out_size,
                                const char*** out_str_array) {
  return list_names("MXSymbolListAuxiliaryStates", symbol, out_size, out_str_array, auxiliary);
}

int MXSymbolListOutputs(SymbolHandle symbol, uint32_t* out_size, const char*** out_str_array) {
  return list_names("MXSymbolListOutputs", symbol, out_size, out_str_array, outputs);
}

int MXSymbolGetNumOutputs(SymbolHandle symbol, uint32_t* output_count) {
  return get_num_outputs("MXSymbolGetNumOutputs", symbol, output_count);
}

int MXSymbolGetOutput(SymbolHandle symbol, uint32_t index, SymbolHandle* out) {
  return get_output("MXSymbolGetOutput", symbol, index, out);
}

int MXSymbolGetInternals(SymbolHandle symbol, SymbolHandle* out) {
  return derive("MXSymbolGetInternals", symbol, out, [](const Symbol& s) { return s.internals(); });
}

int MXSymbolGetChildren(SymbolHandle symbol, SymbolHandle* out) {
  return get_children("MXSymbolGetChildren", symbol, out);
}

int MXSymbolGetInputSymbols(SymbolHandle sym, SymbolHandle** inputs, int* input_size) {
  return guarded([&] {
    require(inputs, "MXSymbolGetInputSymbols", "inputs");
    require(input_size, "MXSymbolGetInputSymbols", "input_size");
    std::vector<SymbolHandle>& handles = symbol_returns().handles;
    handles = new_handles(symbol_of(sym, "MXSymbolGetInputSymbols").input_symbols());
    *inputs = handles.data();
    *input_size = static_cast<int>(handles.size());
  });
}

int MXSymbolPrint(SymbolHandle symbol, const char** out_str) {
  return print_symbol("MXSymbolPrint", symbol, out_str);
}
