// SPDX-License-Identifier: Apache-2.0
// Adding up threads, sorting, and printing in the layout of the 1.x line.
#include "profiler/stats_report.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "profiler/trace_text.h"

namespace mxnet::profiler {
namespace {

enum class Unit : uint8_t { kTime, kMemory, kValue };

struct Row {
  std::string name;
  uint64_t count = 0;
  double total = 0, least = 0, greatest = 0;  // ms, kB or as it is
  double average() const { return total / static_cast<double>(count); }
};

struct Section {
  Unit unit = Unit::kTime;
  std::vector<Row> rows;
};
// By unit first, as the JSON groups them.
using Sections = std::map<std::pair<std::string, Unit>, Section>;

Unit unit_of(EventKind kind) {
  if (kind == EventKind::kMemory) return Unit::kMemory;
  return kind == EventKind::kCounter ? Unit::kValue : Unit::kTime;
}

std::string name_of(const Stat& stat) {
  return stat.kind == EventKind::kMemory ? "Memory: " + device_label(stat.device) : stat.name;
}

double sort_key(const Row& row, SortBy by) {
  switch (by) {
    case SortBy::kTotal:
      return row.total;
    case SortBy::kAverage:
      return row.average();
    case SortBy::kLeast:
      return row.least;
    case SortBy::kGreatest:
      return row.greatest;
    case SortBy::kCount:
      return static_cast<double>(row.count);
  }
  return 0;
}

Row row_of(const Stat& stat, const TickScale& scale) {
  const auto in_unit = [&](int64_t value) {
    switch (unit_of(stat.kind)) {
      case Unit::kTime:
        return static_cast<double>(scale.duration(static_cast<uint64_t>(value))) * 1e-6;
      case Unit::kMemory:
        return static_cast<double>(value) * 1e-3;
      case Unit::kValue:
        break;
    }
    return static_cast<double>(value);
  };
  return {name_of(stat), stat.count, in_unit(stat.sum), in_unit(stat.least),
          in_unit(stat.greatest)};
}

Sections sections_of(const std::vector<Stat>& stats, const TickScale& scale,
                     const ReportOptions& options) {
  std::map<std::tuple<std::string, Unit, std::string>, Row> merged;
  for (const Stat& stat : stats) {
    Row row = row_of(stat, scale);
    const auto [it, is_new] = merged.try_emplace(
        {category_of(stat.kind, stat.domain), unit_of(stat.kind), row.name}, row);
    if (is_new) continue;
    Row& sum = it->second;
    sum.count += row.count;
    sum.total += row.total;
    sum.least = std::min(sum.least, row.least);
    sum.greatest = std::max(sum.greatest, row.greatest);
  }
  Sections sections;
  for (auto& [key, row] : merged) {
    Section& section = sections[{std::get<0>(key), std::get<1>(key)}];
    section.unit = std::get<1>(key);
    section.rows.push_back(std::move(row));
  }
  for (auto& [name, section] : sections) {
    std::stable_sort(section.rows.begin(), section.rows.end(), [&](const Row& a, const Row& b) {
      const double x = sort_key(a, options.sort_by), y = sort_key(b, options.sort_by);
      return options.ascending ? x < y : x > y;
    });
  }
  return sections;
}

using Titles = std::array<const char*, 6>;
constexpr Titles kTimeTitles = {"Name",          "Total Count",   "Time (ms)",
                                "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)"};
constexpr Titles kMemoryTitles = {"Name",          "Total Count",   "",
                                  "Min Use  (kB)", "Max Use  (kB)", "Avg Use  (kB)"};
constexpr Titles kValueTitles = {"Name", "Total Count", "", "Min Value", "Max Value", "Avg Value"};

const Titles& titles_of(Unit unit) {
  if (unit == Unit::kTime) return kTimeTitles;
  return unit == Unit::kMemory ? kMemoryTitles : kValueTitles;
}

void append_titles(std::string& out, const Titles& titles, bool underline) {
  for (std::size_t i = 0; i < titles.size(); ++i) {
    std::string text = titles[i];
    if (text.empty()) continue;  // a unit without a meaningful sum
    if (underline) text.assign(text.size(), '-');
    if (i == 0) {
      out += fmt::format("{:<25}", text);
    } else {
      out += fmt::format(" {:>{}}", text, i == 1 ? 15 : 16);
    }
  }
  out += '\n';
}

std::string as_table(const Sections& sections, uint64_t missed) {
  std::string out =
      "\nProfile Statistics:\n\tNote the difference in units for different entries.\n";
  for (const auto& [key, section] : sections) {
    const Titles& titles = titles_of(section.unit);
    out += fmt::format("{}\n=================\n", key.first);
    append_titles(out, titles, false);
    append_titles(out, titles, true);
    for (const Row& row : section.rows) {
      out += fmt::format("{:<25} {:>15}", row.name, row.count);
      if (section.unit == Unit::kTime) out += fmt::format(" {:>16.4f}", row.total);
      out +=
          fmt::format(" {:>16.4f} {:>16.4f} {:>16.4f}\n", row.least, row.greatest, row.average());
    }
    out += '\n';
  }
  if (missed > 0) {
    out += fmt::format(
        "{} events are missing in the trace, not in these tables: see "
        "MXNET_PROFILER_RING_EVENTS.\n",
        missed);
  }
  return out;
}

// One object of sections, each an object of rows.
std::string json_of(const Sections& sections, Unit unit) {
  std::string out = "{";
  const char* between_sections = "";
  for (const auto& [key, section] : sections) {
    if (section.unit != unit) continue;
    out += fmt::format("{}\n        ", std::exchange(between_sections, ","));
    append_quoted(out, key.first);
    out += ": {";
    const char* between_rows = "";
    for (const Row& row : section.rows) {
      out += fmt::format("{}\n            ", std::exchange(between_rows, ","));
      append_quoted(out, row.name);
      out += fmt::format(": {{\"Count\": {}", row.count);
      if (unit == Unit::kTime) out += fmt::format(", \"Total\": {:.9g}", row.total);
      out += fmt::format(", \"Min\": {:.9g}, \"Max\": {:.9g}, \"Avg\": {:.9g}}}", row.least,
                         row.greatest, row.average());
    }
    out += "\n        }";
  }
  return out + "\n    }";
}

std::string as_json(const Sections& sections, uint64_t missed) {
  return fmt::format(
      "{{\n    \"Time\": {},\n    \"Memory\": {},\n    \"Counter\": {},\n"
      "    \"Unit\": {{\"Time\": \"ms\", \"Memory\": \"kB\"}},\n    \"MissingInTrace\": {}\n}}\n",
      json_of(sections, Unit::kTime), json_of(sections, Unit::kMemory),
      json_of(sections, Unit::kValue), missed);
}

}  // namespace

std::string report(const std::vector<Stat>& stats, const TickScale& scale, uint64_t missed,
                   const ReportOptions& options) {
  const Sections sections = sections_of(stats, scale, options);
  return options.format == ReportFormat::kJson ? as_json(sections, missed)
                                               : as_table(sections, missed);
}

}  // namespace mxnet::profiler
