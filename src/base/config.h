// SPDX-License-Identifier: Apache-2.0
// The typed configuration, derived from config_rows.h. Subsystems take their section in the constructor, so that a
// test builds any variant in one process; only those who make the process-wide singletons call config().
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/config_rows.h"
#include "base/config_types.h"
#include "base/export.h"

namespace mxnet {

// Plain structs whose members start at the documented defaults: EngineConfig, PoolConfig, ...
#define MX_CONFIG_STARTUP_FIELD(field, type, ...) type field;
#define MX_CONFIG_LIVE_FIELD(field, type, ...) Live<type> field;

struct EngineConfig {
  MX_CONFIG_ENGINE(MX_CONFIG_STARTUP_FIELD, MX_CONFIG_LIVE_FIELD)
  EngineConfig();
};
struct PoolConfig {
  MX_CONFIG_POOL(MX_CONFIG_STARTUP_FIELD, MX_CONFIG_LIVE_FIELD, "")
  PoolConfig();
};
struct StorageConfig {
  MX_CONFIG_STORAGE(MX_CONFIG_STARTUP_FIELD, MX_CONFIG_LIVE_FIELD)
  PoolConfig cpu, pinned, gpu;
  StorageConfig();
};
struct DeviceConfig {
  MX_CONFIG_DEVICE(MX_CONFIG_STARTUP_FIELD, MX_CONFIG_LIVE_FIELD)
  DeviceConfig();
};
struct LogConfig {
  MX_CONFIG_LOG(MX_CONFIG_STARTUP_FIELD, MX_CONFIG_LIVE_FIELD)
  LogConfig();
};

struct Config {
  EngineConfig engine;
  StorageConfig storage;
  DeviceConfig device;
  LogConfig log;
};

// The process's configuration: resolved from one snapshot of the environment at the first call, then immutable but
// for live rows. Throws Error(kValue), at every call, when the environment holds a bad value. Thread-safe.
MX_PLUGIN_API const Config& config();

}  // namespace mxnet
