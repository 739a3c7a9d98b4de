// SPDX-License-Identifier: Apache-2.0
// SEED of the Config subsystem: defaults only. The Config helper replaces this file.
#include "base/config.h"

namespace mxnet {
namespace {
struct Text {
  const char* s;
  operator int() const { return static_cast<int>(std::stoll(s)); }
  operator int64_t() const { return std::stoll(s); }
  operator bool() const { return s[0] == '1'; }
  operator EngineType() const { return EngineType::kThreadedPerDevice; }
  operator PoolType() const { return PoolType::kNaive; }
};
}  // namespace
#define INIT(field, type, name, def, ...) field = static_cast<type>(Text{def});
EngineConfig::EngineConfig() { MX_CONFIG_ENGINE(INIT, INIT) }
PoolConfig::PoolConfig() { MX_CONFIG_POOL(INIT, INIT, "") }
StorageConfig::StorageConfig() { MX_CONFIG_STORAGE(INIT, INIT) }
DeviceConfig::DeviceConfig() { MX_CONFIG_DEVICE(INIT, INIT) }
LogConfig::LogConfig() { MX_CONFIG_LOG(INIT, INIT) }

const Config& config() {
  static const Config* c = new Config();
  return *c;
}
}  // namespace mxnet
