// SPDX-License-Identifier: Apache-2.0
// Whether an api has graphs.
#include "device/graph_capture.h"

namespace mxnet {

GraphCapture::~GraphCapture() = default;

GraphCapture* graph_capture(DeviceApi& api) { return dynamic_cast<GraphCapture*>(&api); }

}  // namespace mxnet
