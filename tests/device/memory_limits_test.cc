// SPDX-License-Identifier: Apache-2.0
// Memory totals read from trees of files that look like a machine, a container with cgroup v2, and
// one with v1.
#include "device/cpu/memory_limits.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace mxnet {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kGiB = std::size_t{1} << 30;

class MemoryLimits : public ::testing::Test {
 protected:
  MemoryLimits() {
    std::string name = (fs::temp_directory_path() / "mxnet-limits-XXXXXX").string();
    root_ = mkdtemp(name.data());
    write("proc/meminfo",
          "MemTotal:       16777216 kB\nMemFree:         1000 kB\nMemAvailable:    8388608 kB\n");
  }
  ~MemoryLimits() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  MemoryInfo info() const { return host_memory_info(root_.string()); }

 private:
  fs::path root_;
};

TEST_F(MemoryLimits, WithoutGroupsTheMachineCounts) {
  EXPECT_EQ(info().total, 16 * kGiB);
  EXPECT_EQ(info().free, 8 * kGiB);
}

TEST_F(MemoryLimits, GroupOfVersionTwoNarrows) {
  write("proc/self/cgroup", "0::/app\n");
  write("sys/fs/cgroup/app/memory.max", "4294967296\n");
  write("sys/fs/cgroup/app/memory.current", "3221225472\n");
  write("sys/fs/cgroup/app/memory.stat", "anon 1\ninactive_file 1073741824\nactive_file 5\n");
  EXPECT_EQ(info().total, 4 * kGiB);
  EXPECT_EQ(info().free, 2 * kGiB);  // 4 - (3 used - 1 of cache)
}

TEST_F(MemoryLimits, SmallestOfTheAncestorsCounts) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/memory.max", "2147483648\n");
  write("sys/fs/cgroup/a/memory.current", "0\n");
  write("sys/fs/cgroup/memory.max", "4294967296\n");
  EXPECT_EQ(info().total, 2 * kGiB);
  EXPECT_EQ(info().free, 2 * kGiB);
}

TEST_F(MemoryLimits, UsageAboveTheLimitLeavesNothing) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "1073741824\n");
  write("sys/fs/cgroup/memory.current", "2147483648\n");
  EXPECT_EQ(info().total, kGiB);
  EXPECT_EQ(info().free, 0u);
}

TEST_F(MemoryLimits, GroupOfVersionOneNarrows) {
  write("proc/self/cgroup", "3:cpu,cpuacct:/x\n5:memory:/docker/abc\n0::/x\n");
  // In the container the group itself is mounted at the root.
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "3221225472\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
  EXPECT_EQ(info().total, 3 * kGiB);
  EXPECT_EQ(info().free, 2 * kGiB);
}

TEST_F(MemoryLimits, UnlimitedVersionOneDoesNotNarrow) {
  write("proc/self/cgroup", "5:memory:/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
  EXPECT_EQ(info().total, 16 * kGiB);
  EXPECT_EQ(info().free, 8 * kGiB);
}

TEST_F(MemoryLimits, NonsenseIsNoLimit) {
  write("proc/self/cgroup", "rubbish\n::\n0::\n0:/\n5:memory:relative\n0::/a/../b\n");
  write("sys/fs/cgroup/memory.max", "\n");
  write("sys/fs/cgroup/a/memory.max", "-1\n");
  EXPECT_EQ(info().total, 16 * kGiB);
}

TEST(MemoryLimitsHere, ThisMachineHasMemory) {
  const MemoryInfo info = host_memory_info();
  EXPECT_GT(info.total, 0u);
  EXPECT_GT(info.free, 0u);
  EXPECT_LE(info.free, info.total);
}

}  // namespace
}  // namespace mxnet
