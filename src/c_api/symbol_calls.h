// SPDX-License-Identifier: Apache-2.0
// Bodies of functions that exist twice, with the prefix MX and with NN; each is given the name that
// its errors carry.
#pragma once
#include "c_api/guard.h"
#include "c_api/op_handle.h"
#include "c_api/symbol_handle.h"

namespace mxnet::c_api {

int create_atomic(const char* function, void* op, uint32_t num_param, const char** keys,
                  const char** values, SymbolHandle* out);
int create_variable(const char* function, const char* name, SymbolHandle* out);
int create_group(const char* function, uint32_t count, SymbolHandle* symbols, SymbolHandle* out);
int compose(const char* function, SymbolHandle symbol, const char* name, uint32_t num_args,
            const char** keys, SymbolHandle* args);
int free_symbol(const char* function, SymbolHandle symbol);
int get_attr(const char* function, SymbolHandle symbol, const char* key, const char** out,
             int* success);
int set_attrs(const char* function, SymbolHandle symbol, uint32_t count, const char** keys,
              const char** values);
int get_output(const char* function, SymbolHandle symbol, uint32_t index, SymbolHandle* out);
int get_num_outputs(const char* function, SymbolHandle symbol, uint32_t* count);
int list_names(const char* function, SymbolHandle symbol, uint32_t* out_size,
               const char*** out_array, std::vector<std::string> (*list)(const Symbol&));
int print_symbol(const char* function, SymbolHandle symbol, const char** out);
// *out is null where there are none.
int get_children(const char* function, SymbolHandle symbol, SymbolHandle* out);
// A symbol made of another.
int derive(const char* function, SymbolHandle symbol, SymbolHandle* out,
           Symbol (*make)(const Symbol&));

}  // namespace mxnet::c_api
