// SPDX-License-Identifier: Apache-2.0
// Finds, opens and checks a plug-in. Everything that can go wrong here is something a user has to
// fix, so each case has a message of its own that says how.
#pragma once
#include <string>

#include "device/plugin_abi.h"

namespace mxnet {

// The file `name` beside the library (or program) that this code is part of: plug-ins are installed
// beside libmxnet.so, and looking nowhere else never picks up one of another installation.
std::string path_beside_this_library(const std::string& name);

// Opens the plug-in at `path` and returns its table, which lives as long as the process. Throws
// Error(kGeneric) when the file is missing, cannot be loaded, is no plug-in or has another ABI
// version.
const PluginTable& load_plugin(const std::string& path);

}  // namespace mxnet
