// SPDX-License-Identifier: Apache-2.0
// Weights, or what stands for them.
#include "device/device_links.h"

namespace mxnet {

DeviceLinks::~DeviceLinks() = default;

std::vector<double> link_weights(DeviceApi& api) {
  if (auto* links = dynamic_cast<DeviceLinks*>(&api)) return links->link_weights();
  const int devices = api.device_count();
  std::vector<double> weights;
  weights.reserve(static_cast<std::size_t>(devices) * static_cast<std::size_t>(devices));
  for (int a = 0; a < devices; ++a)
    for (int b = 0; b < devices; ++b)
      weights.push_back(a != b && api.can_access_peer(a, b) ? 1 : 0);
  return weights;
}

}  // namespace mxnet
