// SPDX-License-Identifier: Apache-2.0
// What this process is in a distributed job: the variables that launchers set, and those that a
// program sets itself.
#pragma once
#include <string>
#include <string_view>

#include "kvstore/process_group.h"
#include "kvstore/store_type.h"

namespace mxnet::kvstore {

// The settings of the process: its environment, under what set_cluster_variable has said.
// Thread-safe.
ClusterConfig cluster_config();
std::string cluster_role();

// Throws Error(kValue) for a name that is no variable of this group, and for a bad value.
void set_cluster_variable(std::string_view name, std::string_view value);

// DMLC_PS_VAN_TYPE=p3 makes a p3 store of any distributed one.
StoreType with_transport(StoreType type, const ClusterConfig& settings);
ProcessGroupOptions group_options(const ClusterConfig& settings, bool deterministic = false);
// Throws Error(kValue) for the role that there is not here.
void check_role(const ClusterConfig& settings);
// Throws Error(kValue) unless the launcher has promised as many workers as there are.
void check_num_workers(const ClusterConfig& settings, int processes);

}  // namespace mxnet::kvstore
