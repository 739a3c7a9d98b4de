// SPDX-License-Identifier: Apache-2.0
// What all device apis share. The destructor lives here so that the class's vtable and type
// information exist once, in libmxnet.so, and a plug-in's exceptions and casts meet the same ones.
#include "device/device_api.h"

#include <fmt/format.h>

#include "base/error.h"
#include "device/device_check.h"

namespace mxnet {

DeviceApi::~DeviceApi() = default;

void check_ordinal(const char* api, int device, int count) {
  if (device >= 0 && device < count) return;
  throw Error(ErrorCode::kValue, api,
              fmt::format("given gpu({}), expected an ordinal below {}, the number of devices",
                          device, count));
}

void check_host(const char* api, Device device) {
  if (is_host(device)) return;
  throw Error(ErrorCode::kValue, api,
              fmt::format("given memory of {}, expected host memory", to_string(device)));
}

void check_gpu_end(const char* api, Device to, Device from) {
  if (to.is_gpu() || from.is_gpu()) return;
  throw Error(ErrorCode::kValue, api,
              fmt::format("given a copy from {} to {}, expected a GPU at one end", to_string(from),
                          to_string(to)));
}

}  // namespace mxnet
