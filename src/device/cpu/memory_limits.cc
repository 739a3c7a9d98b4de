// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/memory_limits.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string_view>

namespace mxnet {
namespace {

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

// The number after `key` in a file of "key value" lines; with an empty key, the number that the
// file starts with.
std::optional<std::size_t> read_number(const std::string& path, std::string_view key = "") {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size());
    if (begin == std::string::npos) continue;
    return number(std::string_view(line).substr(begin));  // "max" is no number: no limit
  }
  return std::nullopt;
}

// The names of one version's files. Page cache that the kernel would drop first counts as free, as
// it does in MemAvailable.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;
};
constexpr GroupFiles kV1{"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                         "total_inactive_file "};
constexpr GroupFiles kV2{"/memory.max", "/memory.current", "inactive_file "};

// Narrows `info` by the group at `mount` + `path` and by each of its ancestors. In a container the
// path may be one of the host's, which is not there: then the mount itself is the group.
void apply_group(const std::string& mount, std::string path, const GroupFiles& files,
                 MemoryInfo& info) {
  while (true) {
    const std::string group = mount + path;
    if (const auto limit = read_number(group + files.limit)) {
      const std::size_t usage = read_number(group + files.usage).value_or(0);
      const std::size_t cache = read_number(group + "/memory.stat", files.reclaimable).value_or(0);
      const std::size_t used = usage - std::min(usage, cache);
      info.free = std::min(info.free, *limit - std::min(*limit, used));
      info.total = std::min(info.total, *limit);
    }
    if (path.empty()) return;
    path.resize(path.rfind('/'));
  }
}

}  // namespace

MemoryInfo host_memory_info(const std::string& root) {
  constexpr std::size_t kKiB = 1024;
  MemoryInfo info;
  info.total = read_number(root + "/proc/meminfo", "MemTotal:").value_or(0) * kKiB;
  info.free = read_number(root + "/proc/meminfo", "MemAvailable:").value_or(0) * kKiB;

  // Lines "id:controllers:path"; version 2 is "0::path".
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (controllers == ",,") {
      apply_group(root + "/sys/fs/cgroup", std::move(path), kV2, info);
    } else if (controllers.find(",memory,") != std::string::npos) {
      apply_group(root + "/sys/fs/cgroup/memory", std::move(path), kV1, info);
    }
  }
  return info;
}

}  // namespace mxnet
