// SPDX-License-Identifier: Apache-2.0
// Links are followed by hand: realpath() gives up where the last one leads nowhere yet.
#include "base/destination.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet {
namespace {

constexpr int kMostLinks = 40;  // as many as the kernel follows
// Of the 255 bytes that file systems take, with room for an ending.
constexpr std::size_t kNameBytes = 200;

std::size_t length_of_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? 0 : slash + 1;
}

bool names_open_file(const std::string& path) {
  return path.starts_with("/proc/") || path.starts_with("/dev/fd/");
}

}  // namespace

std::string local_path(const std::string& uri, const char* tag) {
  const std::size_t scheme = uri.find("://");
  if (scheme == std::string::npos) return uri;
  if (uri.compare(0, scheme, "file") == 0) return uri.substr(scheme + 3);
  throw Error(ErrorCode::kNotImplemented, tag,
              fmt::format("given '{}', expected a local path or file://", uri));
}

Destination destination_of(std::string path) {
  char leads[PATH_MAX];
  for (int links = 0; links < kMostLinks && !names_open_file(path); ++links) {
    const ssize_t length = ::readlink(path.c_str(), leads, sizeof leads);
    if (length <= 0) break;
    const std::string_view next(leads, static_cast<std::size_t>(length));
    path.resize(next.front() == '/' ? 0 : length_of_folder(path));
    path += next;
  }
  struct stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  const bool goes_round = !exists && errno == ELOOP;
  const bool replaceable =
      !path.empty() && !names_open_file(path) && !goes_round && (!exists || S_ISREG(there.st_mode));
  return {std::move(path), exists, replaceable};
}

std::string name_beside(const std::string& path, std::string_view ending) {
  const std::size_t folder = length_of_folder(path);
  return fmt::format("{}{}", path.substr(0, folder + std::min(path.size() - folder, kNameBytes)),
                     ending);
}

void take_over_rights(const std::string& path, int fd) noexcept {
  struct stat old {};
  if (::stat(path.c_str(), &old) != 0) return;
  // The owner first: a change of it takes the special bits away.
  const int owner = ::fchown(fd, old.st_uid, old.st_gid);
  const int mode = ::fchmod(fd, old.st_mode & 07777);
  static_cast<void>(owner + mode);
}

}  // namespace mxnet
