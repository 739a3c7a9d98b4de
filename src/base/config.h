// SPDX-License-Identifier: Apache-2.0
// The typed configuration, derived from config_rows.h. Subsystems take their section in the
// constructor, so that a test builds any variant in one process; only those who make the
// process-wide singletons call config().
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_rows.h"
#include "base/config_types.h"
#include "base/export.h"

namespace mxnet {

#define MX_CONFIG_STARTUP_FIELD(field, type, ...) type field;
#define MX_CONFIG_LIVE_FIELD(field, type, ...) Live<type> field;

// Plain structs whose members start at the documented defaults: EngineConfig, PoolConfig, ...
#define MX_CONFIG_STRUCT(member, Struct, ROWS, title)   \
  struct Struct {                                       \
    ROWS(MX_CONFIG_STARTUP_FIELD, MX_CONFIG_LIVE_FIELD) \
    Struct();                                           \
  };
MX_CONFIG_SECTIONS(MX_CONFIG_STRUCT)

struct PoolConfig {
  MX_CONFIG_POOL(MX_CONFIG_STARTUP_FIELD, MX_CONFIG_LIVE_FIELD, "")
  PoolConfig();
};
struct StorageConfig {
  MX_CONFIG_STORAGE(MX_CONFIG_STARTUP_FIELD, MX_CONFIG_LIVE_FIELD)
  PoolConfig cpu, pinned, gpu;
  StorageConfig();
};

// Where a row's value comes from.
enum class Source : uint8_t { kDefault, kEnvironment, kSet };
const char* to_string(Source source);

struct Origin {
  Live<Source> source{Source::kDefault};
  std::string spelling;  // the name that stood in the environment, where that is an alias
};

// Default-constructed: the documented defaults. The process's own (see config()) is immutable but
// for its live rows and their origins, hence safe to read from any thread.
struct Config {
#define MX_CONFIG_MEMBER(member, Struct, ROWS, title) Struct member;
  MX_CONFIG_SECTIONS(MX_CONFIG_MEMBER)
  StorageConfig storage;

  // Where the value of `field`, a member of this very object, comes from. A field knows its row by
  // its place, so a misspelt question does not compile: `c.is_set(c.cuda.use_fusion)`.
  template <class T>
  const Origin& origin(const T& field) const {
    return origin_at(&field);
  }
  // Given in the environment or set later, even if to the default.
  template <class T>
  bool is_set(const T& field) const {
    return origin(field).source != Source::kDefault;
  }

  std::vector<Origin> origins;  // one a row, in the order of config_rows(); empty = all default

 private:
  MX_PLUGIN_API const Origin& origin_at(const void* field) const;
};

// Null until the configuration is resolved. Use the functions below.
extern MX_PLUGIN_API std::atomic<const Config*> g_config;
MX_PLUGIN_API const Config& resolve_config();

// The process's configuration once config() has succeeded, else null. Never
// resolves, throws or logs: for errors and the log, which must work while
// configuration is being resolved or has failed.
inline const Config* config_if_resolved() noexcept {
  // Acquire pairs with the store that publishes a fully resolved Config.
  return g_config.load(std::memory_order_acquire);
}

// The process's configuration: resolved from one snapshot of the environment at the first call,
// then immutable but for live rows. Throws Error(kValue), at every call, when the environment holds
// a bad value. Thread-safe, and cheap enough for every operation.
inline const Config& config() {
  const Config* resolved = config_if_resolved();
  return resolved != nullptr ? *resolved : resolve_config();
}

}  // namespace mxnet
