// SPDX-License-Identifier: Apache-2.0
// Counts, sums and extremes per name, for any number of names, and from zero after a reset.
#include "profiler/thread_stats.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>

namespace mxnet::profiler {
namespace {

Event lasting(const char* name, uint64_t ticks, const char* domain = nullptr) {
  return {.value = ticks, .name = name, .domain = domain};
}

std::map<std::string, Stat> read(const ThreadStats& stats, uint32_t generation) {
  std::vector<Stat> all;
  stats.read(generation, all);
  std::map<std::string, Stat> by_name;
  for (const Stat& stat : all) by_name[stat.name] = stat;
  EXPECT_EQ(by_name.size(), all.size()) << "a name twice";
  return by_name;
}

TEST(ThreadStats, CountsSumsAndExtremes) {
  ThreadStats stats;
  for (uint64_t ticks : {5, 3, 9}) stats.add(lasting("a", ticks), 1);
  stats.add(lasting("b", 7), 1);
  const auto all = read(stats, 1);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.at("a").count, 3U);
  EXPECT_EQ(all.at("a").sum, 17);
  EXPECT_EQ(all.at("a").least, 3);
  EXPECT_EQ(all.at("a").greatest, 9);
  EXPECT_EQ(all.at("b").count, 1U);
}

TEST(ThreadStats, OneNameInTwoCategoriesIsTwo) {
  ThreadStats stats;
  const char* const name = "same";
  stats.add(lasting(name, 1, "x"), 1);
  stats.add(lasting(name, 1, "y"), 1);
  Event call = lasting(name, 1, "x");
  call.kind = EventKind::kCCall;
  stats.add(call, 1);
  std::vector<Stat> all;
  stats.read(1, all);
  EXPECT_EQ(all.size(), 3U);
}

TEST(ThreadStats, MemoryIsCountedByDevice) {
  ThreadStats stats;
  for (int32_t id : {0, 1, 1}) {
    stats.add({.value = 10, .name = "m", .kind = EventKind::kMemory, .device = Device::gpu(id)}, 1);
  }
  std::vector<Stat> all;
  stats.read(1, all);
  ASSERT_EQ(all.size(), 2U);
  std::map<int32_t, uint64_t> counts;
  for (const Stat& stat : all) counts[stat.device.id] = stat.count;
  EXPECT_EQ(counts, (std::map<int32_t, uint64_t>{{0, 1}, {1, 2}}));
}

TEST(ThreadStats, ManyNamesFit) {
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) names.push_back("name " + std::to_string(i));
  ThreadStats stats;
  for (int round = 0; round < 2; ++round)
    for (const std::string& name : names) stats.add(lasting(name.c_str(), 2), 1);
  const auto all = read(stats, 1);
  ASSERT_EQ(all.size(), names.size());
  for (const auto& [name, stat] : all) EXPECT_EQ(stat.count, 2U) << name;
}

TEST(ThreadStats, ANewGenerationStartsFromZero) {
  ThreadStats stats;
  stats.add(lasting("a", 5), 1);
  stats.add(lasting("b", 5), 1);
  EXPECT_TRUE(read(stats, 2).empty());
  stats.add(lasting("a", 1), 2);
  const auto all = read(stats, 2);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.at("a").count, 1U);
  EXPECT_EQ(all.at("a").sum, 1);
  EXPECT_EQ(all.at("a").greatest, 1);
}

TEST(ThreadStats, AReaderBesideTheWriterSeesCountsGrow) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back(std::to_string(i));
  ThreadStats stats;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int round = 0; round < 20; ++round)
      for (const std::string& name : names) stats.add(lasting(name.c_str(), 4), 1);
    done = true;
  });
  std::map<std::string, uint64_t> before;
  while (!done) {
    for (const auto& [name, stat] : read(stats, 1)) {
      ASSERT_GE(stat.count, before[name]);
      before[name] = stat.count;
      ASSERT_EQ(stat.least, 4);
      ASSERT_EQ(stat.greatest, 4);
    }
  }
  writer.join();
  for (const auto& [name, stat] : read(stats, 1)) EXPECT_EQ(stat.sum, 80) << name;
}

}  // namespace
}  // namespace mxnet::profiler
