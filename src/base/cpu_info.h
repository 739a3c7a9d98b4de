// SPDX-License-Identifier: Apache-2.0
// What this process may use of the machine: CPUs (affinity, cgroup quota), memory (cgroup limit),
// instruction sets. The readers take the root of the file system, so that tests give made-up
// machines.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mxnet {

struct LogicalCpu {
  int id = 0;
  int package = 0,
      core = 0;    // as the kernel numbers them; a core's number is unique within its package
  int thread = 0;  // rank among the logical CPUs of its core, by id
  friend bool operator==(const LogicalCpu&, const LogicalCpu&) = default;
};

// Ids of the CPUs that the calling thread may run on, ascending; never empty.
std::vector<int> allowed_cpus();
// Where `ids` lie. A CPU about which the system says nothing counts as a core of its own.
std::vector<LogicalCpu> cpu_topology(const std::vector<int>& ids, const std::string& root = "");
// Distinct physical cores among `cpus`.
int core_count(const std::vector<LogicalCpu>& cpus);

struct HostMemory {
  uint64_t total = 0;      // bytes: the machine's, or the cgroup's limit if lower
  uint64_t available = 0;  // bytes that could still be used without swapping
};
HostMemory host_memory(const std::string& root = "");

// What the CPU has and the operating system saves; all false on other architectures than x86.
struct CpuFeatures {
  bool sse = false, sse2 = false, sse3 = false, sse4_1 = false, sse4_2 = false, sse4a = false;
  bool avx = false, avx2 = false, f16c = false, fma = false;
  bool avx512f = false, avx512bw = false, avx512vl = false, avx512dq = false, avx512cd = false;
  bool avx512vbmi = false, avx512vnni = false, avx512bf16 = false, avx512fp16 = false;
  bool amx_tile = false, amx_int8 = false, amx_bf16 = false;
};
const CpuFeatures& cpu_features() noexcept;

}  // namespace mxnet
