// SPDX-License-Identifier: Apache-2.0
// Topology and features of the CPU and the size of memory, from the kernel's files and cpuid.
#include "base/cpu_info.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/cgroup.h"

namespace mxnet {
namespace {

std::optional<int64_t> read_int(const std::string& path) {
  std::ifstream file(path);
  int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// "MemAvailable:  12345 kB" of /proc/meminfo, in bytes.
std::optional<uint64_t> meminfo(const std::string& root, std::string_view key) {
  std::ifstream file(root + "/proc/meminfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ':') {
      uint64_t kib = 0;
      if (std::istringstream(line.substr(key.size() + 1)) >> kib) return kib * 1024;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<int> allowed_cpus() {
  // The kernel refuses a mask smaller than its own, whose size no call tells.
  for (int bits = 1024; bits <= (1 << 20); bits *= 2) {
    std::vector<unsigned long> words(static_cast<std::size_t>(bits) / (8 * sizeof(unsigned long)));
    auto* mask = reinterpret_cast<cpu_set_t*>(words.data());
    const std::size_t bytes = words.size() * sizeof(unsigned long);
    if (::sched_getaffinity(0, bytes, mask) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> ids;
    for (int cpu = 0; cpu < bits; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, mask)) ids.push_back(cpu);
    }
    if (!ids.empty()) return ids;
  }
  return {0};
}

std::vector<LogicalCpu> cpu_topology(const std::vector<int>& ids, const std::string& root) {
  std::vector<LogicalCpu> cpus;
  for (const int id : ids) {
    const std::string directory =
        root + "/sys/devices/system/cpu/cpu" + std::to_string(id) + "/topology/";
    LogicalCpu cpu{id, 0, id, 0};
    const auto package = read_int(directory + "physical_package_id");
    const auto core = read_int(directory + "core_id");
    if (core.has_value() && *core >= 0) {
      cpu.core = static_cast<int>(*core);
      cpu.package = static_cast<int>(std::max<int64_t>(package.value_or(0), 0));
    }
    cpu.thread = static_cast<int>(std::count_if(cpus.begin(), cpus.end(), [&](const LogicalCpu& c) {
      return c.package == cpu.package && c.core == cpu.core;
    }));
    cpus.push_back(cpu);
  }
  return cpus;
}

int core_count(const std::vector<LogicalCpu>& cpus) {
  std::set<std::pair<int, int>> cores;
  for (const LogicalCpu& cpu : cpus) cores.emplace(cpu.package, cpu.core);
  return static_cast<int>(cores.size());
}

HostMemory host_memory(const std::string& root) {
  HostMemory memory;
  memory.total = meminfo(root, "MemTotal").value_or(0);
  if (memory.total == 0 && root.empty()) {  // no /proc: what the C library knows
    memory.total = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                   static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  memory.available = meminfo(root, "MemAvailable").value_or(memory.total);
  cgroup_restrict_memory(memory, root);
  return memory;
}

const CpuFeatures& cpu_features() noexcept {
  static const CpuFeatures features = [] {
    CpuFeatures f;
#if defined(__x86_64__)
    // GCC's own checks include what the operating system saves (XCR0).
    __builtin_cpu_init();
    f.sse = __builtin_cpu_supports("sse");
    f.sse2 = __builtin_cpu_supports("sse2");
    f.sse3 = __builtin_cpu_supports("sse3");
    f.sse4_1 = __builtin_cpu_supports("sse4.1");
    f.sse4_2 = __builtin_cpu_supports("sse4.2");
    f.sse4a = __builtin_cpu_supports("sse4a");
    f.avx = __builtin_cpu_supports("avx");
    f.avx2 = __builtin_cpu_supports("avx2");
    f.fma = __builtin_cpu_supports("fma");
    f.avx512f = __builtin_cpu_supports("avx512f");
    f.avx512bw = __builtin_cpu_supports("avx512bw");
    f.avx512vl = __builtin_cpu_supports("avx512vl");
    f.avx512dq = __builtin_cpu_supports("avx512dq");
    f.avx512cd = __builtin_cpu_supports("avx512cd");
    f.avx512vbmi = __builtin_cpu_supports("avx512vbmi");
    f.avx512vnni = __builtin_cpu_supports("avx512vnni");
    // Newer names are not known to every compiler: read the leaves, and trust them where the wider
    // state is saved.
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0) f.f16c = f.avx && (c & bit_F16C) != 0;
    uint64_t saved_state = 0;
    if ((c & bit_OSXSAVE) != 0) {
      unsigned low = 0, high = 0;
      __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      saved_state = low | (uint64_t{high} << 32);
    }
    const bool tiles_saved = (saved_state & 0x60000) == 0x60000;  // XTILECFG and XTILEDATA
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
      f.avx512fp16 = f.avx512f && (d & (1u << 23)) != 0;
      f.amx_bf16 = tiles_saved && (d & (1u << 22)) != 0;
      f.amx_tile = tiles_saved && (d & (1u << 24)) != 0;
      f.amx_int8 = tiles_saved && (d & (1u << 25)) != 0;
    }
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) {
      f.avx512bf16 = f.avx512f && (a & (1u << 5)) != 0;
    }
#endif
    return f;
  }();
  return features;
}

}  // namespace mxnet
