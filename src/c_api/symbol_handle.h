// SPDX-License-Identifier: Apache-2.0
// SymbolHandle and Symbol, one into the other, and what goes out through pointers, for all parts of
// the C ABI that take or give symbols.
#pragma once
#include <string>
#include <vector>

#include "c_api/handle_pool.h"
#include "graph/symbol.h"
#include "mxnet/c_api.h"

namespace mxnet::c_api {

inline HandlePool<Symbol>& symbol_pool() {
  static constinit HandlePool<Symbol> pool("symbol");
  return pool;
}

// Good until the handle is freed. Throws Error(kValue) for what is no symbol; `function` complains.
inline Symbol& symbol_of(SymbolHandle handle, const char* function) {
  return symbol_pool().get(handle, function);
}
inline SymbolHandle new_handle(Symbol symbol) { return symbol_pool().create(std::move(symbol)); }
// Either all or none.
std::vector<SymbolHandle> new_handles(std::vector<Symbol> symbols);

// Texts that go out through pointers.
class TextStore {
 public:
  // Good until the next call. `out_size` counts items of `per_item` texts each.
  void keep(std::vector<std::string> texts, uint32_t* out_size, const char*** out_array,
            uint32_t per_item = 1);

 private:
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;
};

// What goes out through pointers and lives until the next call of the same kind on this thread.
struct SymbolReturns {
  TextStore names, attrs;
  std::vector<SymbolHandle> handles;
};
SymbolReturns& symbol_returns();

// Names and texts of a call as the library takes them; throws Error(kValue) for nulls.
std::vector<std::pair<std::string, std::string>> checked_attrs(const char* function, uint32_t count,
                                                               const char** keys,
                                                               const char** values);
std::vector<const Symbol*> checked_symbols(const char* function, uint32_t count,
                                           SymbolHandle* handles);
std::vector<std::string_view> checked_names(const char* function, uint32_t count,
                                            const char** names);

}  // namespace mxnet::c_api
