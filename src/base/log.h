// SPDX-License-Identifier: Apache-2.0
// Lines on stderr, one write each, never on stdout. Callers format with fmt; nothing here throws.
#pragma once
#include <source_location>
#include <string_view>

#include "base/export.h"

namespace mxnet {

enum class LogLevel : unsigned char { kDebug, kInfo, kWarning, kError, kOff };

// Writes "[hh:mm:ss] file:line: W message" if `level` is at or above the configured one (MXNET_LOG_LEVEL).
MX_PLUGIN_API void log(LogLevel level, std::string_view message,
                       std::source_location where = std::source_location::current()) noexcept;

}  // namespace mxnet
