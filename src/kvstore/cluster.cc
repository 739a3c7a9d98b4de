// SPDX-License-Identifier: Apache-2.0
// Overrides over the snapshot of the environment.
#include "kvstore/cluster.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/config_resolve.h"
#include "base/config_row.h"
#include "base/error.h"
#include "base/leaked.h"
#include "base/lock.h"

namespace mxnet::kvstore {
namespace {

struct Overrides {
  Mutex mutex;
  std::map<std::string, std::string> values MX_GUARDED_BY(mutex);
};

Overrides& overrides() {
  static Leaked<Overrides> all;
  return *all;
}

const Row& cluster_row(std::string_view name) {
  const Row* row = find_row(name);
  if (row == nullptr || std::string_view(row->section) != "cluster") {
    throw Error(ErrorCode::kValue, "kvstore",
                fmt::format("given variable {}, expected one of those of distributed training "
                            "(docs/env_vars.md)",
                            name));
  }
  return *row;
}

}  // namespace

ClusterConfig cluster_config() {
  Config settings = config();
  Overrides& set = overrides();
  const MutexLock lock(set.mutex);
  for (const auto& [name, value] : set.values) cluster_row(name).store(value, settings);
  return settings.cluster;
}

std::string cluster_role() { return cluster_config().role; }

void set_cluster_variable(std::string_view name, std::string_view value) {
  const Row& row = cluster_row(name);
  if (!row.accepts(value))
    throw Error(ErrorCode::kValue, "kvstore", bad_value_text(row, name, value));
  Overrides& set = overrides();
  const MutexLock lock(set.mutex);
  set.values[row.name] = value;
}

StoreType with_transport(StoreType type, const ClusterConfig& settings) {
  type.sliced |= type.distributed && settings.ps_van_type == "p3";
  return type;
}

ProcessGroupOptions group_options(const ClusterConfig& settings, bool deterministic) {
  ProcessGroupOptions options;
  options.server = settings.role == "server";
  options.batches = !deterministic;
  if (settings.ps_heartbeat_interval > 0)
    options.heartbeat_seconds = settings.ps_heartbeat_interval;
  if (settings.ps_heartbeat_timeout > 0) options.timeout_seconds = settings.ps_heartbeat_timeout;
  // Rarer ones would have processes lost that are there.
  options.heartbeat_seconds = std::min(options.heartbeat_seconds, options.timeout_seconds / 2);
  return options;
}

void check_role(const ClusterConfig& settings) {
  if (settings.role != "scheduler") return;
  throw Error(
      ErrorCode::kValue, "kvstore",
      fmt::format("given DMLC_ROLE={}, expected worker or server: processes find each other "
                  "through MPI, without a scheduler",
                  settings.role));
}

void check_num_workers(const ClusterConfig& settings, int processes) {
  if (!settings.num_worker || *settings.num_worker == processes) return;
  throw Error(ErrorCode::kValue, "kvstore",
              fmt::format("given DMLC_NUM_WORKER={}, but {} processes were started; expected the "
                          "same number (tools/launch.py sets both)",
                          *settings.num_worker, processes));
}

}  // namespace mxnet::kvstore
