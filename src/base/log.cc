// SPDX-License-Identifier: Apache-2.0
// log(): the prefix is built on the stack and joined to the message by writev, so that neither
// memory nor another thread's line can get between.
#include "base/log.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "base/config.h"
#include "base/source_path.h"

namespace mxnet {
namespace {

constexpr char kLetters[] = {'D', 'I', 'W', 'E'};

// Usually one system call; what a full pipe or a signal left over follows in further ones.
void write_all(iovec* parts, int count) noexcept {
  while (count > 0) {
    ssize_t written = ::writev(STDERR_FILENO, parts, count);
    if (written < 0) {
      if (errno == EINTR) continue;
      return;  // nobody is left to be told
    }
    while (count > 0 && static_cast<std::size_t>(written) >= parts->iov_len) {
      written -= static_cast<ssize_t>(parts->iov_len);
      ++parts;
      --count;
    }
    if (count > 0) {
      parts->iov_base = static_cast<char*>(parts->iov_base) + written;
      parts->iov_len -= static_cast<std::size_t>(written);
    }
  }
}

}  // namespace

void log(LogLevel level, std::string_view message, std::source_location where) noexcept {
  if (level == LogLevel::kOff || level < log_level()) return;
  const int saved_errno = errno;  // callers report errno after logging
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  const std::string_view file = short_source_path(where.file_name());
  char prefix[256];
  const int length = std::snprintf(prefix, sizeof(prefix), "[%02d:%02d:%02d] %.*s:%u: %c ",
                                   local.tm_hour, local.tm_min, local.tm_sec,
                                   static_cast<int>(file.size() < 200 ? file.size() : 200),
                                   file.data(), where.line(), kLetters[static_cast<int>(level)]);
  if (message.ends_with('\n')) message.remove_suffix(1);
  char newline = '\n';
  iovec parts[] = {{prefix, static_cast<std::size_t>(length)},
                   {const_cast<char*>(message.data()), message.size()},
                   {&newline, 1}};
  write_all(parts, 3);
  errno = saved_errno;
}

LogLevel log_level() noexcept {
  const Config* config = config_if_resolved();
  return config != nullptr ? config->log.level.get() : LogLevel::kInfo;
}

}  // namespace mxnet
