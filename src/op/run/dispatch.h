// SPDX-License-Identifier: Apache-2.0
// From a run-time element type to a template argument, once, outside the loop.
#pragma once
#include <string>
#include <type_traits>

#include "base/dtype.h"
#include "base/export.h"

namespace mxnet {

template <class T>
struct TypeTag {
  using type = T;
};

// "float32, float64".
std::string dtype_list(DTypeSet set);
// Throws Error(kType): an element type that is not in `expected`.
[[noreturn]] MX_PLUGIN_API void refuse_dtype(DType given, DTypeSet expected, const char* tag);

// fn(TypeTag<T>{}) for the C++ type of `dtype`. Only the types of `Set` are instantiated; others
// are refused.
template <DTypeSet Set = kAllTypes, class F>
decltype(auto) dispatch_dtype(DType dtype, const char* tag, F&& fn) {
  switch (dtype) {
#define MX_DISPATCH_CASE(name, cpp_type, enumerator)                               \
  case DType::enumerator:                                                          \
    if constexpr (Set.contains(DType::enumerator)) return fn(TypeTag<cpp_type>{}); \
    break;
    MX_DTYPES(MX_DISPATCH_CASE)
#undef MX_DISPATCH_CASE
    case DType::kUnknown:
      break;
  }
  refuse_dtype(dtype, Set, tag);
}

// The type that arithmetic on T is done in.
template <class T>
using ComputeType =
    std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

}  // namespace mxnet
