// SPDX-License-Identifier: Apache-2.0
// Limits that a container or job scheduler set. A limit holds for all groups below it, so every
// directory from the process's own group up to the mount counts, and the tightest wins. Groups that
// the container does not see are skipped.
#include "base/cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/cpu_info.h"

namespace mxnet {
namespace {

constexpr char kMount[] = "/sys/fs/cgroup";
// v1 writes "no limit" as the largest multiple of a page.
constexpr uint64_t kNoLimitV1 = uint64_t{1} << 62;

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

std::optional<uint64_t> read_bytes(const std::string& path) {
  const std::string word = first_word(path);
  if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  uint64_t value = 0;
  std::istringstream(word) >> value;
  return value;
}

// A directory that may hold limits, in the file naming of its version.
struct Group {
  std::string directory;
  bool v2 = false;
};

bool lists(const std::string& controllers, const std::string& name) {
  std::istringstream text(controllers);
  for (std::string one; std::getline(text, one, ',');) {
    if (one == name) return true;
  }
  return false;
}

// All groups that limit `controller` for this process, innermost first in each hierarchy.
std::vector<Group> groups_of(const std::string& root, const std::string& controller) {
  std::vector<Group> groups;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line;
       std::getline(file, line);) {  // "4:cpu,cpuacct:/docker/1234" or "0::/user.slice"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    const bool v2 = controllers.empty();
    if (!v2 && !lists(controllers, controller)) continue;
    std::vector<std::string> mounts = {root + kMount};
    if (v2) {
      mounts.push_back(root + kMount + "/unified");
    } else {
      const std::string mount = root + kMount + "/";
      mounts = {mount + controller, mount + controllers};
    }
    for (const std::string& mount : mounts) {
      for (std::string at = path;;) {
        groups.push_back({at == "/" ? mount : mount + at, v2});
        const std::size_t slash = at.rfind('/');
        if (at == "/" || slash == std::string::npos) break;
        at = slash == 0 ? "/" : at.substr(0, slash);
      }
    }
  }
  return groups;
}

std::optional<double> quota_of(const Group& group) {
  double quota = -1, period = 0;
  if (group.v2) {
    std::ifstream file(group.directory + "/cpu.max");  // "150000 100000" or "max 100000"
    if (!(file >> quota >> period)) return std::nullopt;
  } else {
    std::ifstream(group.directory + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(group.directory + "/cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

struct MemoryLimit {
  uint64_t limit = 0, used = 0;
};

std::optional<MemoryLimit> memory_of(const Group& group) {
  const std::string& d = group.directory;
  const auto limit = read_bytes(d + (group.v2 ? "/memory.max" : "/memory.limit_in_bytes"));
  if (!limit.has_value() || *limit >= kNoLimitV1) return std::nullopt;
  MemoryLimit memory{
      *limit,
      read_bytes(d + (group.v2 ? "/memory.current" : "/memory.usage_in_bytes")).value_or(0)};
  // File pages not lately used go before anything is refused: they count as free.
  std::ifstream file(d + "/memory.stat");
  std::string key;
  for (uint64_t value = 0; file >> key >> value;) {
    if (key == (group.v2 ? "inactive_file" : "total_inactive_file")) {
      memory.used -= std::min(memory.used, value);
      break;
    }
  }
  return memory;
}

}  // namespace

std::optional<double> cgroup_cpu_quota(const std::string& root) {
  std::optional<double> tightest;
  for (const Group& group : groups_of(root, "cpu")) {
    const auto quota = quota_of(group);
    if (quota.has_value()) tightest = std::min(tightest.value_or(*quota), *quota);
  }
  return tightest;
}

void cgroup_restrict_memory(HostMemory& memory, const std::string& root) {
  for (const Group& group : groups_of(root, "memory")) {
    const auto limit = memory_of(group);
    if (!limit.has_value()) continue;
    memory.total = std::min(memory.total, limit->limit);
    memory.available =
        std::min(memory.available, limit->limit - std::min(limit->limit, limit->used));
  }
}

}  // namespace mxnet
