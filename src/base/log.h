// SPDX-License-Identifier: Apache-2.0
// Lines on stderr, one write each, never on stdout. Callers format with fmt; nothing here throws or
// allocates. The level lies here and not in Config, so that Config itself may log while it
// resolves; the start of the library copies the configured value in.
#pragma once
#include <source_location>
#include <string_view>

#include "base/export.h"

namespace mxnet {

enum class LogLevel : unsigned char { kDebug, kInfo, kWarning, kError, kOff };

// Writes "[hh:mm:ss] file:line: W message" if `level` is at or above the configured one
// (MXNET_LOG_LEVEL). A message of several lines stays together. Thread-safe.
MX_PLUGIN_API void log(LogLevel level, std::string_view message,
                       std::source_location where = std::source_location::current()) noexcept;

// The level of the moment: kInfo until the configuration is resolved, so that Config itself may
// log.
LogLevel log_level() noexcept;

}  // namespace mxnet
