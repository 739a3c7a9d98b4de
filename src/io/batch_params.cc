// SPDX-License-Identifier: Apache-2.0
// Where batches are made.
#include "io/batch_params.h"

#include <fmt/format.h>

#include "base/error.h"
#include "device/device_api.h"

namespace mxnet::io {

Device batch_device(BatchPlace place, int32_t device_id) {
  if (place == BatchPlace::kGPU && gpu_count() > 0) return Device::cpu_pinned(device_id);
  return Device::cpu();
}

Shape batched(uint32_t batch_size, const Shape& sample) {
  Shape shape{batch_size};
  for (const int64_t dim : sample) shape.push_back(dim);
  return shape;
}

void expect_part(const char* tag, int32_t part_index, int32_t num_parts) {
  if (num_parts >= 1 && part_index >= 0 && part_index < num_parts) return;
  throw Error(ErrorCode::kValue, tag,
              fmt::format("given part_index {} of num_parts {}, expected 0 to num_parts - 1",
                          part_index, num_parts));
}

}  // namespace mxnet::io
