// SPDX-License-Identifier: Apache-2.0
// Parts seen as dense ranges of memory, copied and converted.
#include "ndarray/copy_into.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "ndarray/convert_elements.h"
#include "ndarray/host_write.h"
#include "ndarray/sparse_store.h"
#include "storage/staged_copy.h"

namespace mxnet {
namespace {

// A dense range of memory: an array, or one part of a sparse one.
struct Range {
  void* data;  // to be written only where resize_part() has made room
  Device device;
  Shape shape;
  DType dtype;
  std::size_t bytes() const { return static_cast<std::size_t>(shape.size()) * dtype_size(dtype); }
};

void require_aux(const NDArray& array, int aux) {
  require_data(array, "index array");
  if (!array.is_sparse() || aux < 0 || aux >= array.sparse().num_aux()) {
    throw Error(
        ErrorCode::kValue, "NDArray",
        fmt::format("given index array {} of a {} array, expected one of its {}", aux,
                    storage_type_name(array.storage_type()), num_aux(array.storage_type())));
  }
}

Range range_of(const NDArray& array, int part) {
  if (part != kValuesPart) {
    require_aux(array, part);
    const SparseStore& store = array.sparse();
    return {store.part_data(1 + part), array.device(), store.aux_shape(part),
            store.aux_dtype(part)};
  }
  if (array.is_sparse()) {
    const SparseStore& store = array.sparse();
    return {store.values(), array.device(), store.values_shape(), array.dtype()};
  }
  return {array.bytes() > 0 ? array.data() : nullptr, array.device(), array.shape(), array.dtype()};
}

// Elements are converted in host memory, whatever the devices.
void copy_range(const Range& to, const Range& from) {
  if (from.bytes() == 0) return;
  if (to.dtype == from.dtype)
    return staged_copy(to.data, to.device, from.data, from.device, from.bytes());
  std::vector<char> host(from.bytes()), converted(to.bytes());
  staged_copy(host.data(), Device::cpu(), from.data, from.device, from.bytes());
  convert_elements(converted.data(), to.dtype, host.data(), from.dtype, from.shape.size());
  staged_copy(to.data, to.device, converted.data(), Device::cpu(), to.bytes());
}

void give_shape(NDArray& to, const Shape& shape) {
  if (to.shape() == shape) return;
  if (shape.size() <= to.size()) {
    to = to.view_as(shape, to.dtype());
  } else if (to.bytes() == to.chunk()->bytes()) {
    to = NDArray(shape, to.dtype(), to.device());
  } else {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("copy: given shape {} into a view of shape {}", to_string(shape),
                            to_string(to.shape())));
  }
}

}  // namespace

void sync_copy_into(NDArray& to, const NDArray& from, int part) {
  require_data(to, "copy");
  require_data(from, "copy");
  if (part != kValuesPart) require_aux(to, part);
  from.wait_to_read();
  const HostWrite write(to);
  const Range source = range_of(from, kValuesPart);
  if (to.is_sparse()) {
    to.sparse().resize_part(part == kValuesPart ? SparseStore::kValues : 1 + part, source.shape,
                            to.device());
  } else {
    give_shape(to, source.shape);
  }
  copy_range(range_of(to, part), source);
}

NDArray copy_part(const NDArray& array, int part) {
  require_data(array, "copy");
  array.wait_to_read();
  const Range source = range_of(array, part);
  NDArray result(source.shape, source.dtype, array.device());
  copy_range(range_of(result, kValuesPart), source);
  return result;
}

DType aux_dtype(const NDArray& array, int aux) {
  require_aux(array, aux);
  return array.sparse().aux_dtype(aux);
}

}  // namespace mxnet
