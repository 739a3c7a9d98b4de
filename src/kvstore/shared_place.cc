// SPDX-License-Identifier: Apache-2.0
// Segments are those of arrays on cpu_shared.
#include "kvstore/shared_place.h"

#include "base/error.h"
#include "ndarray/shared_array.h"

namespace mxnet::kvstore {

// On cpu, as all that a store keeps in host memory: it compares devices.
NDArray make_shared_array(const Shape& shape, DType dtype, SharedPlace& place) {
  place = {};
  try {
    const NDArray segment(shape, dtype, Device::cpu_shared(), "kvstore");
    place.segment = shared_handle(segment);
    place.key = segment.chunk()->block().shared_key;
    const auto keep = [chunk = segment.chunk()](const RunContext&) {};
    return NDArray(make_ref<Chunk>(Device::cpu(), segment.bytes(), segment.data(), keep), 0, shape,
                   dtype);
  } catch (const Error&) {
    place = {};
    return NDArray(shape, dtype, Device::cpu(), "kvstore");
  }
}

std::shared_ptr<char> see_shared_place(const SharedPlace& place, std::size_t bytes) {
  try {
    const RawBlock block = attach_segment(place.segment, bytes);
    std::shared_ptr<char> seen(static_cast<char*>(block.data),
                               [block](char*) { close_segment(block); });
    return block.shared_key == place.key ? seen : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace mxnet::kvstore
