// SPDX-License-Identifier: Apache-2.0
// The tables: layout, units, merging of threads, and every way of sorting.
#include "profiler/stats_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace mxnet::profiler {
namespace {

TickScale settled() {
  TickScale scale;
  scale.settle();
  return scale;
}

// A counter's statistics: their numbers are printed as they are.
Stat counter(const char* name, uint64_t count, int64_t sum, int64_t least, int64_t greatest) {
  return {.name = name,
          .domain = "d",
          .kind = EventKind::kCounter,
          .count = count,
          .sum = sum,
          .least = least,
          .greatest = greatest};
}

Stat memory(Device device, int64_t least, int64_t greatest) {
  return {.name = "Memory",
          .kind = EventKind::kMemory,
          .device = device,
          .count = 2,
          .sum = least + greatest,
          .least = least,
          .greatest = greatest};
}

TEST(StatsReport, TheTableHasTheLayoutOfTheRelease) {
  const TickScale scale = settled();
  Stat dot{.name = "dot", .count = 3};
  const std::string text =
      report({memory(Device::cpu(), 40'000, 121'296), dot}, scale, 0, ReportOptions{});
  EXPECT_EQ(text,
            "\nProfile Statistics:\n"
            "\tNote the difference in units for different entries.\n"
            "Device Storage\n"
            "=================\n"
            "Name                          Total Count    Min Use  (kB)    Max Use  (kB)    Avg "
            "Use  (kB)\n"
            "----                          -----------    -------------    -------------    "
            "-------------\n"
            "Memory: cpu/0                           2          40.0000         121.2960          "
            "80.6480\n"
            "\n"
            "operator\n"
            "=================\n"
            "Name                          Total Count        Time (ms)    Min Time (ms)    Max "
            "Time (ms)    Avg Time (ms)\n"
            "----                          -----------        ---------    -------------    "
            "-------------    -------------\n"
            "dot                                     3           0.0000           0.0000           "
            "0.0000           0.0000\n"
            "\n");
}

TEST(StatsReport, TimesAreMilliseconds) {
  const TickScale scale = settled();
  Stat dot{.name = "dot", .count = 2, .sum = 4'000'000, .least = 1'000'000, .greatest = 3'000'000};
  const auto json = nlohmann::json::parse(report({dot}, scale, 0, {.format = ReportFormat::kJson}));
  const auto& row = json.at("Time").at("operator").at("dot");
  const double ms = static_cast<double>(scale.duration(1'000'000)) * 1e-6;
  EXPECT_NEAR(row.at("Total").get<double>(), 4 * ms, ms * 1e-4);
  EXPECT_NEAR(row.at("Min").get<double>(), ms, ms * 1e-4);
  EXPECT_NEAR(row.at("Max").get<double>(), 3 * ms, ms * 1e-4);
  EXPECT_NEAR(row.at("Avg").get<double>(), 2 * ms, ms * 1e-4);
  EXPECT_EQ(json.at("Unit").at("Time"), "ms");
  EXPECT_EQ(json.at("Unit").at("Memory"), "kB");
}

TEST(StatsReport, ThreadsAreAddedUpByText) {
  const TickScale scale = settled();
  const std::string same = "c";
  const auto json = nlohmann::json::parse(
      report({counter("c", 2, 10, 4, 6), counter(same.c_str(), 1, -1, -1, -1),
              memory(Device::gpu(0), 1000, 2000), memory(Device::gpu(1), 1000, 3000)},
             scale, 9, {.format = ReportFormat::kJson}));
  const auto& row = json.at("Counter").at("d").at("c");
  EXPECT_EQ(row.at("Count"), 3);
  EXPECT_EQ(row.at("Min"), -1);
  EXPECT_EQ(row.at("Max"), 6);
  EXPECT_EQ(row.at("Avg"), 3);
  EXPECT_EQ(json.at("Memory").at("Device Storage").size(), 2U);
  EXPECT_EQ(json.at("Memory").at("Device Storage").at("Memory: gpu/1").at("Max"), 3);
  EXPECT_EQ(json.at("MissingInTrace"), 9);
}

TEST(StatsReport, NothingGivesAnEmptyTableAndValidJson) {
  const TickScale scale = settled();
  EXPECT_EQ(report({}, scale, 0, {}),
            "\nProfile Statistics:\n\tNote the difference in units for different entries.\n");
  const auto json = nlohmann::json::parse(report({}, scale, 0, {.format = ReportFormat::kJson}));
  EXPECT_TRUE(json.at("Time").empty());
}

TEST(StatsReport, TheTableSaysHowMuchTheTraceHasLost) {
  EXPECT_NE(report({}, settled(), 12, {}).find("12 events are missing in the trace"),
            std::string::npos);
}

struct Order {
  SortBy by;
  const char* ascending;  // names in order
};
class StatsReportOrder : public testing::TestWithParam<Order> {};

TEST_P(StatsReportOrder, RowsAreSortedBothWays) {
  // Each key has an order of its own.
  const std::vector<Stat> stats = {counter("a", 1, 30, 30, 31), counter("b", 4, 40, 2, 90),
                                   counter("c", 3, 45, 3, 20)};
  const TickScale scale = settled();
  const auto order = [&](bool ascending) {
    const std::string text =
        report(stats, scale, 0, {.sort_by = GetParam().by, .ascending = ascending});
    std::map<std::size_t, char> at;
    for (const char name : {'a', 'b', 'c'}) at[text.find(std::string("\n") + name + " ")] = name;
    std::string names;
    for (const auto& [position, name] : at) names += name;
    return names;
  };
  const std::string ascending = GetParam().ascending;
  EXPECT_EQ(order(true), ascending);
  EXPECT_EQ(order(false), std::string(ascending.rbegin(), ascending.rend()));
}

INSTANTIATE_TEST_SUITE_P(Keys, StatsReportOrder,
                         testing::Values(Order{SortBy::kTotal, "abc"},
                                         Order{SortBy::kAverage, "bca"},
                                         Order{SortBy::kLeast, "bca"},
                                         Order{SortBy::kGreatest, "cab"},
                                         Order{SortBy::kCount, "acb"}));

}  // namespace
}  // namespace mxnet::profiler
