// SPDX-License-Identifier: Apache-2.0
// The choice of a reducer, and conversions that all need.
#include "kvstore/reducer.h"

#include <array>
#include <cstring>

#include "base/config.h"
#include "base/leaked.h"
#include "exec/invoke.h"
#include "kvstore/array_op.h"
#include "kvstore/collective_reducer.h"
#include "kvstore/device_reducer.h"
#include "kvstore/host_reducer.h"
#include "kvstore/tree_reducer.h"
#include "ndarray/sparse_convert.h"
#include "op/op_def.h"
#include "op/params/parsed_attrs.h"

namespace mxnet::kvstore {

Reducer::~Reducer() = default;

std::unique_ptr<Reducer> make_reducer(const StoreType& type, const KvstoreConfig& config) {
  if (type.nccl) return std::make_unique<CollectiveReducer>(config);
  if (type.on_device && config.usetree) return std::make_unique<TreeReducer>(config);
  if (type.on_device) return std::make_unique<DeviceReducer>(config);
  return std::make_unique<HostReducer>(config, SumOrder::kGrouped);
}

NDArray as_type(const NDArray& array, DType dtype) {
  if (array.dtype() == dtype) return array;
  static const OpDef& copy = Registry::get().at("_copyto");
  static Leaked<ParamsPtr> params(copy.parse({}));
  NDArray converted = array.is_sparse()
                          ? NDArray(array.storage_type(), array.shape(), dtype, array.device())
                          : NDArray(array.shape(), dtype, array.device());
  const std::array<const NDArray*, 1> in{&array};
  const std::array<NDArray*, 1> out{&converted};
  invoke(copy, *params, in, out);
  return converted;
}

void transfer(const NDArray& from, const NDArray& to, int priority) {
  NDArray values = as_type(from, to.dtype());
  if (values.storage_type() != to.storage_type()) {  // layouts change in host memory only
    if (!in_host_memory(values)) values = values.copy(Device::cpu());
    values = cast_storage(values, to.storage_type());
  }
  values.copy_to(to, priority);
}

NDArray empty_like(const NDArray& like, Device device) {
  if (!like.is_sparse()) return NDArray(like.shape(), like.dtype(), device, "kvstore");
  return NDArray(like.storage_type(), like.shape(), like.dtype(), device);
}

NDArray zeros_like(const NDArray& like) {
  NDArray array = empty_like(like, like.device());
  push_dense({.reads = {}, .writes = {array}, .name = "KVStoreZero"},
             [bytes = array.bytes()](const Addresses& at) { std::memset(at.writes[0], 0, bytes); });
  return array;
}

const NDArray& staged(Buffers& buffers, std::size_t position, const NDArray& like, Device device) {
  if (buffers.staged.size() <= position) buffers.staged.resize(position + 1);
  NDArray& buffer = buffers.staged[position];
  if (buffer.is_none() || buffer.device() != device ||
      buffer.storage_type() != like.storage_type() || buffer.dtype() != like.dtype())
    buffer = empty_like(like, device);
  return buffer;
}

}  // namespace mxnet::kvstore
