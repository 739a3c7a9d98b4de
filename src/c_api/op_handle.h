// SPDX-License-Identifier: Apache-2.0
// OpHandle and AtomicSymbolCreator are one thing: the address of an operator's definition, which
// lives as long as the process.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "mxnet/c_api.h"
#include "op/op_def.h"

namespace mxnet::c_api {

// Throws Error(kValue) for null and for what is not an operator.
inline const OpDef& op_of(const void* handle, std::string_view function) {
  const auto* op = static_cast<const OpDef*>(handle);
  const bool aligned = reinterpret_cast<uintptr_t>(handle) % alignof(OpDef) == 0;
  if (op == nullptr || !aligned || !op->is_valid())
    throw Error(ErrorCode::kValue, function,
                op == nullptr ? "given null, expected an operator handle"
                              : "given a handle of another kind, expected an operator handle");
  return *op;
}

inline void* handle_of(const OpDef& op) { return const_cast<OpDef*>(&op); }

}  // namespace mxnet::c_api
