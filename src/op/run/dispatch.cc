// SPDX-License-Identifier: Apache-2.0
// What is said where a type is not among those that are compiled.
#include "op/run/dispatch.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet {

std::string dtype_list(DTypeSet set) {
  std::string list;
#define MX_LIST_DTYPE(name, cpp_type, enumerator) \
  if (set.contains(DType::enumerator)) list.append(list.empty() ? "" : ", ").append(#name);
  MX_DTYPES(MX_LIST_DTYPE)
#undef MX_LIST_DTYPE
  return list;
}

void refuse_dtype(DType given, DTypeSet expected, const char* tag) {
  throw Error(
      ErrorCode::kType, tag,
      fmt::format("given type {}, expected one of: {}", dtype_name(given), dtype_list(expected)));
}

}  // namespace mxnet
