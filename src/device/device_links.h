// SPDX-License-Identifier: Apache-2.0
// What the direct links between devices of one kind carry. Not every kind of device knows more than
// whether there is one, so it is an interface beside DeviceApi that an api may have as well.
#pragma once
#include <vector>

#include "device/device_api.h"

namespace mxnet {

// Thread-safe.
class MX_PLUGIN_API DeviceLinks {
 public:
  virtual ~DeviceLinks();

  // How much the direct link between devices a and b carries, at [a * device_count() + b], in any
  // unit: 0 = there is none, 1 = the slowest of them, more = faster. Symmetric; what is on the
  // diagonal means nothing.
  virtual std::vector<double> link_weights() = 0;
};

// Those of `api`; where it knows no weights, 1 between devices that reach each other's memory.
std::vector<double> link_weights(DeviceApi& api);

}  // namespace mxnet
