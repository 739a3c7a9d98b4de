// SPDX-License-Identifier: Apache-2.0
// The interface's home: its type information has to be one for the core and its plug-ins.
#include "device/collectives.h"

namespace mxnet {

Collectives::~Collectives() = default;

Collectives* collectives(DeviceApi& api) { return dynamic_cast<Collectives*>(&api); }

}  // namespace mxnet
