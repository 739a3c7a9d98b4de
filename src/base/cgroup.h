// SPDX-License-Identifier: Apache-2.0
// The limits of the control groups (v1 or v2) that this process is in; see cpu_info.h for who asks.
#pragma once
#include <optional>
#include <string>

namespace mxnet {

struct HostMemory;

// The tightest limit in CPUs, nothing when there is none. `root` leads all paths: tests give a
// made-up machine.
std::optional<double> cgroup_cpu_quota(const std::string& root = "");
// Lowers `memory` to what the groups leave.
void cgroup_restrict_memory(HostMemory& memory, const std::string& root);

}  // namespace mxnet
