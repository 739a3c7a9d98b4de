// SPDX-License-Identifier: Apache-2.0
// The table that an out-of-memory error and Storage::table show: a row a pool, then the tags that
// hold most.
#include <fmt/format.h>

#include <array>

#include "storage/pool.h"

namespace mxnet {
namespace {

constexpr std::size_t kTagsShown = 8;

const char* type_name(PoolType type) {
  switch (type) {
    case PoolType::kNaive:
      return "Naive";
    case PoolType::kRound:
      return "Round";
    case PoolType::kUnpooled:
      return "Unpooled";
  }
  return "?";
}

}  // namespace

std::string format_bytes(std::size_t bytes) {
  static constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::string Pool::table_head() {
  return fmt::format("{:<16}{:<10}{:>12}{:>12}{:>12}{:>12}{:>15}\n", "pool", "type", "in use",
                     "requested", "cached", "peak", "peak with cache");
}

std::string Pool::table_rows() {
  const StorageStats s = stats();
  std::string rows = fmt::format("{:<16}{:<10}{:>12}{:>12}{:>12}{:>12}{:>15}\n", to_string(device_),
                                 type_name(type_), format_bytes(s.in_use),
                                 format_bytes(s.requested), format_bytes(s.cached),
                                 format_bytes(s.peak_in_use), format_bytes(s.peak_footprint));
  for (const TagUsage& usage : tags_.largest(kTagsShown)) {
    rows += fmt::format("  {:<24}{:>12}, peak {}\n", usage.tag,
                        format_bytes(static_cast<std::size_t>(usage.in_use)),
                        format_bytes(static_cast<std::size_t>(usage.peak)));
  }
  return rows;
}

}  // namespace mxnet
