// SPDX-License-Identifier: Apache-2.0
// How much memory this process may use: the machine's, or less inside a container. /proc/meminfo
// alone shows the host's memory there, and pools sized by it get the process killed.
#pragma once
#include <string>

#include "device/device_api.h"

namespace mxnet {

// The smallest of the machine's memory and the limits of the process's control group (v1 or v2) and
// its ancestors. `root` is put before /proc and /sys, so that tests read trees of their own. Never
// throws: what cannot be read does not limit.
MemoryInfo host_memory_info(const std::string& root = "");

}  // namespace mxnet
