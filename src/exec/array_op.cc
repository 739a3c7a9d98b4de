// SPDX-License-Identifier: Apache-2.0
// The table of operators on arrays.
#include "exec/array_op.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/leaked.h"
#include "base/lock.h"

namespace mxnet {
namespace {

struct Table {
  Mutex mutex;
  std::map<std::string, ArrayOp, std::less<>> by_name MX_GUARDED_BY(mutex);  // never removed
};

Table& table() {
  static Leaked<Table> table;
  return *table;
}

}  // namespace

bool add_array_op(const char* op, ArrayOp entry) {
  const MutexLock lock(table().mutex);
  return table().by_name.emplace(op, entry).second;
}

const ArrayOp* find_array_op(const OpDef& op) {
  const MutexLock lock(table().mutex);
  const auto known = table().by_name.find(op.name());
  return known == table().by_name.end() ? nullptr : &known->second;
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
