// SPDX-License-Identifier: Apache-2.0
// Runs where the value lies.
#include "kvstore/pack_op.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "kvstore/array_op.h"
#include "op/loops/gradient_bits.h"

namespace mxnet::kvstore {
namespace {

// For the plug-in's kernels.
std::shared_ptr<const void> params_of(const Compression& compression) {
  return std::make_shared<const GradientBitsParams>(compression.type == CompressionType::kOneBit,
                                                    compression.threshold);
}

}  // namespace

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
              .params = params_of(compression),
              .priority = priority},
             [compression, count = value.size()](const Addresses& at) {
               compression.pack(static_cast<const float*>(at.reads[0]),
                                static_cast<float*>(at.writes[1]),
                                static_cast<uint32_t*>(at.writes[0]), count);
             });
}

void push_unpack(const Compression& compression, const NDArray& packed, const NDArray& value,
                 int priority) {
  push_dense({.reads = {packed},
              .writes = {value},
              .name = "KVStoreUnpack",
              .params = params_of(compression),
              .priority = priority},
             [compression, count = value.size()](const Addresses& at) {
               compression.unpack(static_cast<const uint32_t*>(at.reads[0]),
                                  static_cast<float*>(at.writes[0]), count);
             });
}

}  // namespace mxnet::kvstore
