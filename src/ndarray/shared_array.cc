// SPDX-License-Identifier: Apache-2.0
// Chunks on segments of storage/shared_memory.h.
#include "ndarray/shared_array.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet {

SharedHandle shared_handle(const NDArray& array) {
  require_dense(array, "shared memory handle");
  if (array.device().type != DeviceType::kCPUShared || array.bytes() == 0 || array.offset() != 0) {
    throw Error(
        ErrorCode::kValue, "NDArray",
        fmt::format("shared memory handle: given {} bytes at offset {} on {}, expected a whole "
                    "array that is not empty on cpu_shared: copy it there first",
                    array.bytes(), array.offset(), to_string(array.device())));
  }
  array.wait_to_read();
  array.data();  // makes the segment, if nobody has written yet
  return Storage::get().export_shared(array.chunk()->block());
}

NDArray from_shared_handle(SharedHandle handle, const Shape& shape, DType dtype) {
  int64_t bytes = 0;
  if (shape.known() &&
      !__builtin_mul_overflow(shape.size(), static_cast<int64_t>(dtype_size(dtype)), &bytes) &&
      bytes > 0) {
    const Block block =
        Storage::get().attach_shared(handle, static_cast<std::size_t>(bytes), "shared array");
    return NDArray(make_ref<Chunk>(block), 0, shape, dtype);
  }
  throw Error(
      ErrorCode::kValue, "NDArray",
      fmt::format("from shared memory: given shape {} of {}, expected a known one that is not "
                  "empty",
                  to_string(shape), dtype_name(dtype)));
}

}  // namespace mxnet
