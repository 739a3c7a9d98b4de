// SPDX-License-Identifier: Apache-2.0
// What this process is in a distributed job: the variables that launchers set, and those that a
// program sets itself.
#pragma once
#include <string>
#include <string_view>

#include "base/config.h"

namespace mxnet::kvstore {

// The settings of the process: its environment, under what set_cluster_variable has said.
// Thread-safe.
ClusterConfig cluster_config();
std::string cluster_role();

// Throws Error(kValue) for a name that is no variable of this group, and for a bad value.
void set_cluster_variable(std::string_view name, std::string_view value);

}  // namespace mxnet::kvstore
