// SPDX-License-Identifier: Apache-2.0
// The table of operators on arrays.
#include "exec/array_op.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/leaked.h"

namespace mxnet {
namespace {

std::map<std::string, ArrayOp, std::less<>>& table() {
  static Leaked<std::map<std::string, ArrayOp, std::less<>>> table;
  return *table;
}

}  // namespace

bool add_array_op(const char* op, ArrayOp entry) { return table().emplace(op, entry).second; }

const ArrayOp* find_array_op(const OpDef& op) {
  const auto known = table().find(op.name());
  return known == table().end() ? nullptr : &known->second;
}

void deliver_result(const OpDef& op, std::size_t index, NDArray result, NDArray* output) {
  if (output->is_none()) {
    *output = std::move(result);
    return;
  }
  if (output->shape() != result.shape() || output->dtype() != result.dtype()) {
    throw Error(ErrorCode::kValue, op.name(),
                fmt::format("given output {} of {} {}, expected {} {}", index,
                            dtype_name(output->dtype()), to_string(output->shape()),
                            dtype_name(result.dtype()), to_string(result.shape())));
  }
  result.copy_to(*output);
  output->set_tape(result.tape());
}

}  // namespace mxnet
