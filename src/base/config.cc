// SPDX-License-Identifier: Apache-2.0
// The process's configuration: one ConfigProcess fed by the
// environment and warning through the log.
#include "base/config.h"

#include <pthread.h>

#include "base/config_process.h"
#include "base/config_row.h"
#include "base/error.h"
#include "base/fork_order.h"
#include "base/leaked.h"
#include "base/log.h"

namespace mxnet {
namespace {

void before_fork() MX_NO_THREAD_SAFETY_ANALYSIS { config_process().lock_for_fork(); }
void after_fork() MX_NO_THREAD_SAFETY_ANALYSIS { config_process().unlock_after_fork(); }

// It fails only for want of memory: then a fork during a set may leave the child's lock held, as
// anywhere else.
[[gnu::constructor(kForkOrderConfig)]] void register_handlers() {
  static_cast<void>(::pthread_atfork(before_fork, after_fork, after_fork));
}

}  // namespace

constinit std::atomic<const Config*> g_config{nullptr};

const char* to_string(Source source) {
  switch (source) {
    case Source::kDefault:
      return "default";
    case Source::kEnvironment:
      return "environment";
    case Source::kSet:
      return "set";
  }
  return "unknown";
}

const Origin& Config::origin_at(const void* field) const {
  static Leaked<Origin> untouched;
  const auto offset =
      static_cast<size_t>(static_cast<const char*>(field) - reinterpret_cast<const char*>(this));
  for (const auto& row : config_rows()) {
    if (row->offset() == offset) return origins.empty() ? *untouched : origins[row->index()];
  }
  MX_ASSERT(!"a field of this Config");
  return *untouched;
}

ConfigProcess& config_process() {
  static Leaked<ConfigProcess> process(
      snapshot_environment, [](const std::string& line) { log(LogLevel::kWarning, line); },
      g_config);
  return *process;
}

const Config& resolve_config() { return config_process().config(); }

}  // namespace mxnet
