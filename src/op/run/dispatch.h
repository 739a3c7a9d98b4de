// SPDX-License-Identifier: Apache-2.0
// From a run-time element type to a template argument, once, outside the loop.
#pragma once
#include <string>
#include <type_traits>

#include "base/dtype.h"
#include "base/error.h"

namespace mxnet {

template <class T>
struct TypeTag {
  using type = T;
};

// fn(TypeTag<T>{}) for the C++ type of `dtype`. Only the types of `Set` are instantiated; others
// throw Error(kType).
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
  throw Error(ErrorCode::kType, tag,
              std::string("type ") + std::string(dtype_name(dtype)) + " is not supported");
}

// The type that arithmetic on T is done in.
template <class T>
using ComputeType =
    std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

}  // namespace mxnet
