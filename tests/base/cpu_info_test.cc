// SPDX-License-Identifier: Apache-2.0
// Limits and topology, read from made-up machines.
#include "base/cpu_info.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/cgroup.h"

namespace mxnet {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// A directory that stands for "/", removed at the end.
class FakeRoot : public testing::Test {
 protected:
  FakeRoot() {
    std::string pattern = testing::TempDir() + "mxnet_root_XXXXXX";
    root = ::mkdtemp(pattern.data());
  }
  ~FakeRoot() override { std::filesystem::remove_all(root); }
  void file(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  void meminfo(uint64_t total_kib, uint64_t available_kib) const {
    file("/proc/meminfo",
         "MemTotal:       " + std::to_string(total_kib) +
             " kB\nMemFree: 1 kB\nMemAvailable:  " + std::to_string(available_kib) + " kB\n");
  }
  std::string root;
};

class Cgroup : public FakeRoot {
 protected:
  static constexpr uint64_t kUnlimited = uint64_t{1} << 62;
  uint64_t memory_left() const {
    HostMemory memory{.total = kUnlimited, .available = kUnlimited};
    cgroup_restrict_memory(memory, root);
    return memory.total;
  }
};
class Memory : public FakeRoot {};
class Topology : public FakeRoot {};

TEST_F(Cgroup, NoneMeansNoLimit) {
  EXPECT_FALSE(cgroup_cpu_quota(root).has_value());
  EXPECT_EQ(memory_left(), kUnlimited);
}

TEST_F(Cgroup, Version2OfAContainer) {
  file("/proc/self/cgroup", "0::/\n");
  file("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  file("/sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(root).value_or(0), 1.5);
  EXPECT_EQ(memory_left(), 1024 * kMiB);
}

TEST_F(Cgroup, Version2TightestAncestorWins) {
  file("/proc/self/cgroup", "0::/jobs/job_7/step\n");
  file("/sys/fs/cgroup/jobs/cpu.max", "400000 100000\n");
  file("/sys/fs/cgroup/jobs/job_7/cpu.max", "200000 100000\n");
  file("/sys/fs/cgroup/jobs/job_7/step/cpu.max", "max 100000\n");
  file("/sys/fs/cgroup/jobs/memory.max", "104857600\n");
  file("/sys/fs/cgroup/jobs/job_7/step/memory.max", "max\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(root).value_or(0), 2);
  EXPECT_EQ(memory_left(), 100 * kMiB);
}

TEST_F(Cgroup, GroupOutsideTheContainersViewIsSkipped) {
  file("/proc/self/cgroup", "0::/kubepods/pod1/abc\n");
  file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(root).value_or(0), 0.5);
}

TEST_F(Cgroup, Version1OfAContainer) {
  file("/proc/self/cgroup", "12:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n1:name=systemd:/\n");
  file("/sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "300000\n");
  file("/sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000\n");
  file("/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "52428800\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(root).value_or(0), 3);
  EXPECT_EQ(memory_left(), 50 * kMiB);
}

TEST_F(Cgroup, Version1WithoutLimit) {
  file("/proc/self/cgroup", "12:memory:/\n4:cpu,cpuacct:/\n");
  file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(cgroup_cpu_quota(root).has_value());
  EXPECT_EQ(memory_left(), kUnlimited);
}

TEST_F(Cgroup, NonsenseIsNoLimit) {
  file("/proc/self/cgroup", "nonsense\n0::\n::::\n0::/x\n");
  file("/sys/fs/cgroup/cpu.max", "many some\n");
  file("/sys/fs/cgroup/memory.max", "-17\n");
  EXPECT_FALSE(cgroup_cpu_quota(root).has_value());
  EXPECT_EQ(memory_left(), kUnlimited);
}

TEST_F(Memory, IsTheMachinesWithoutGroups) {
  meminfo(4096, 1024);
  EXPECT_EQ(host_memory(root).total, 4 * kMiB);
  EXPECT_EQ(host_memory(root).available, 1 * kMiB);
}

TEST_F(Memory, LimitLowersTotalAndAvailable) {
  meminfo(1024 * 1024, 1024 * 1024);
  file("/proc/self/cgroup", "0::/\n");
  file("/sys/fs/cgroup/memory.max", std::to_string(100 * kMiB));
  file("/sys/fs/cgroup/memory.current", std::to_string(70 * kMiB));
  file("/sys/fs/cgroup/memory.stat", "anon 5\ninactive_file " + std::to_string(20 * kMiB) + "\n");
  EXPECT_EQ(host_memory(root).total, 100 * kMiB);
  EXPECT_EQ(host_memory(root).available, 50 * kMiB);  // file pages that can go count as free
}

TEST_F(Memory, LimitAboveTheMachineIsNoLimit) {
  meminfo(4096, 2048);
  file("/proc/self/cgroup", "0::/\n");
  file("/sys/fs/cgroup/memory.max", std::to_string(1000 * kMiB));
  EXPECT_EQ(host_memory(root).total, 4 * kMiB);
  EXPECT_EQ(host_memory(root).available, 2 * kMiB);
}

TEST_F(Memory, UsageAboveTheLimitLeavesNothing) {
  meminfo(1024 * 1024, 1024 * 1024);
  file("/proc/self/cgroup", "0::/\n");
  file("/sys/fs/cgroup/memory.max", std::to_string(10 * kMiB));
  file("/sys/fs/cgroup/memory.current", std::to_string(11 * kMiB));
  EXPECT_EQ(host_memory(root).available, 0U);
}

TEST(RealMachine, HasMemoryAndCpus) {
  const HostMemory memory = host_memory();
  EXPECT_GT(memory.total, 100 * kMiB);
  EXPECT_GT(memory.available, 0U);
  EXPECT_LE(memory.available, memory.total);
  const auto cpus = allowed_cpus();
  EXPECT_FALSE(cpus.empty());
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
  EXPECT_GE(core_count(cpu_topology(cpus)), 1);
  EXPECT_LE(core_count(cpu_topology(cpus)), static_cast<int>(cpus.size()));
}

TEST_F(Topology, SiblingsShareACore) {
  for (int cpu = 0; cpu < 4; ++cpu) {  // 0 and 2, 1 and 3 are siblings
    const std::string directory =
        "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    file(directory + "physical_package_id", "0\n");
    file(directory + "core_id", std::to_string(cpu % 2) + "\n");
  }
  const auto cpus = cpu_topology({0, 1, 2, 3}, root);
  EXPECT_EQ(core_count(cpus), 2);
  EXPECT_EQ(cpus[1], (LogicalCpu{1, 0, 1, 0}));
  EXPECT_EQ(cpus[2], (LogicalCpu{2, 0, 0, 1}));
}

TEST_F(Topology, UnknownCpusAreCoresOfTheirOwn) {
  EXPECT_EQ(core_count(cpu_topology({3, 5, 9}, root)), 3);
}

TEST(CpuFeatures, AreConsistent) {
  const CpuFeatures& f = cpu_features();
#if defined(__x86_64__)
  EXPECT_TRUE(f.sse && f.sse2);  // part of the architecture
#endif
  EXPECT_TRUE(!f.avx2 || f.avx);
  EXPECT_TRUE(!f.avx512f || f.avx2);
  EXPECT_TRUE(!f.avx512fp16 || f.avx512f);
  EXPECT_TRUE(!f.amx_int8 || f.amx_tile);
}

TEST(CpuFeatures, AgreeWithTheKernel) {
  std::ifstream file("/proc/cpuinfo");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t at = text.find("\nflags");
  if (at == std::string::npos) GTEST_SKIP() << "no flags in /proc/cpuinfo";
  const std::string flags = text.substr(at, text.find('\n', at + 1) - at) + " ";
  const auto has = [&](const std::string& name) {
    return flags.find(" " + name + " ") != std::string::npos;
  };
  const CpuFeatures& f = cpu_features();
  EXPECT_EQ(f.sse4_2, has("sse4_2"));
  EXPECT_EQ(f.avx, has("avx"));
  EXPECT_EQ(f.avx2, has("avx2"));
  EXPECT_EQ(f.f16c, has("f16c"));
  EXPECT_EQ(f.fma, has("fma"));
  EXPECT_EQ(f.avx512f, has("avx512f"));
  EXPECT_EQ(f.avx512vnni, has("avx512_vnni"));
  EXPECT_EQ(f.avx512bf16, has("avx512_bf16"));
}

}  // namespace
}  // namespace mxnet
