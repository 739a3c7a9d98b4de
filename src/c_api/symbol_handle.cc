// SPDX-License-Identifier: Apache-2.0
// Handles of symbols.
#include "c_api/symbol_handle.h"

#include <memory>

#include "base/of_thread.h"
#include "c_api/guard.h"

namespace mxnet::c_api {

std::vector<SymbolHandle> new_handles(std::vector<Symbol> symbols) {
  std::vector<SymbolHandle> handles;
  handles.reserve(symbols.size());
  try {
    for (Symbol& symbol : symbols) handles.push_back(new_handle(std::move(symbol)));
  } catch (...) {
    for (SymbolHandle handle : handles) symbol_pool().destroy(handle, "symbol");
    throw;
  }
  return handles;
}

void TextStore::keep(std::vector<std::string> texts, uint32_t* out_size, const char*** out_array,
                     uint32_t per_item) {
  texts_ = std::move(texts);
  pointers_.clear();
  for (const std::string& text : texts_) pointers_.push_back(text.c_str());
  *out_size = static_cast<uint32_t>(texts_.size()) / per_item;
  *out_array = pointers_.data();
}

SymbolReturns& symbol_returns() { return of_thread<SymbolReturns>(); }

std::vector<std::pair<std::string, std::string>> checked_attrs(const char* function, uint32_t count,
                                                               const char** keys,
                                                               const char** values) {
  std::vector<std::pair<std::string, std::string>> attrs;
  for_each_text(function, count, keys, values,
                [&](const char* key, const char* value) { attrs.emplace_back(key, value); });
  return attrs;
}

std::vector<const Symbol*> checked_symbols(const char* function, uint32_t count,
                                           SymbolHandle* handles) {
  if (count > 0) require(handles, function, "symbols");
  std::vector<const Symbol*> symbols;
  symbols.reserve(static_cast<std::size_t>(count));
  for (uint32_t i = 0; i < count; ++i) symbols.push_back(&symbol_of(handles[i], function));
  return symbols;
}

std::vector<std::string_view> checked_names(const char* function, uint32_t count,
                                            const char** names) {
  if (count > 0) require(names, function, "names");
  std::vector<std::string_view> views;
  for (uint32_t i = 0; i < count; ++i) {
    require(names[i], function, "a name");
    views.emplace_back(names[i]);
  }
  return views;
}

}  // namespace mxnet::c_api
