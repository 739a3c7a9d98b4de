// SPDX-License-Identifier: Apache-2.0
// Picks the api by the ends: two host ends are the host's, anything else belongs to the GPUs' api.
#include "device/device_copy.h"

#include "device/spare_stream.h"

namespace mxnet {

void copy(void* to_data, Device to, const void* from_data, Device from, std::size_t bytes,
          Stream* stream) {
  if (!to.is_gpu() && !from.is_gpu()) {
    device_api(DeviceType::kCPU).copy(to_data, to, from_data, from, bytes, nullptr);
  } else if (stream != nullptr) {
    stream->api().copy(to_data, to, from_data, from, bytes, stream->native());
  } else {
    DeviceApi& api = device_api(DeviceType::kGPU);
    SpareStream mine(api, to.is_gpu() ? to.id : from.id);
    api.copy(to_data, to, from_data, from, bytes, mine.stream().native());
    mine.finish();
  }
}

}  // namespace mxnet
