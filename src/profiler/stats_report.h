// SPDX-License-Identifier: Apache-2.0
// The aggregate tables as text for people and as JSON for programs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/clock.h"
#include "profiler/thread_stats.h"

namespace mxnet::profiler {

// The numbers are those of the C ABI.
enum class ReportFormat : int { kTable = 0, kJson = 1 };
enum class SortBy : int { kTotal = 0, kAverage = 1, kLeast = 2, kGreatest = 3, kCount = 4 };

struct ReportOptions {
  ReportFormat format = ReportFormat::kTable;
  SortBy sort_by = SortBy::kTotal;
  bool ascending = false;
};

// `stats` may hold a name more than once, from several threads: they are added up. Sections are in
// the order of their names. `missed`: events that the trace, not these tables, has lost.
std::string report(const std::vector<Stat>& stats, const TickScale& scale, uint64_t missed,
                   const ReportOptions& options);

}  // namespace mxnet::profiler
