// SPDX-License-Identifier: Apache-2.0
// Runs where the value lies.
#include "kvstore/pack_op.h"

#include <fmt/format.h>

#include "base/error.h"
#include "kvstore/array_op.h"

namespace mxnet::kvstore {

void check_packable(const NDArray& value) {
  if (value.dtype() == DType::kFloat32) return;
  throw Error(ErrorCode::kType, "kvstore",
              fmt::format("gradient compression: given {} values, expected float32",
                          dtype_name(value.dtype())));
}

void push_pack(const Compression& compression, const NDArray& value, const NDArray& rest,
               const NDArray& packed, int priority) {
  push_dense({.reads = {value, rest},
              .writes = {packed, rest},
              .name = "KVStorePack",
              .priority = priority},
             [compression, count = value.size()](const Addresses& at) {
               compression.pack(static_cast<const float*>(at.reads[0]),
                                static_cast<float*>(at.writes[1]),
                                static_cast<uint32_t*>(at.writes[0]), count);
             });
}

}  // namespace mxnet::kvstore
