// SPDX-License-Identifier: Apache-2.0
// Reading by pread, never by mapping: a file that shrinks meanwhile is an error, not a signal.
#include "io/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace mxnet::io {

void file_error(const char* tag, const std::string& path, const char* verb, int error) {
  throw Error(
      ErrorCode::kValue, tag,
      fmt::format("given '{}': cannot {}: {}", path, verb, std::generic_category().message(error)));
}

std::string local_file(const std::string& path, const char* tag) {
  const std::size_t scheme = path.find("://");
  if (scheme == std::string::npos) return path;
  if (path.starts_with("file://")) return path.substr(scheme + 3);
  throw Error(
      ErrorCode::kValue, tag,
      fmt::format("given '{}', expected a path or file:// (no other scheme is built in)", path));
}

InputFile::InputFile(std::string path, const char* tag) : path_(std::move(path)), tag_(tag) {
  fd_ = ::open(local_file(path_, tag).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) file_error(tag, path_, "open", errno);
  struct stat info {};
  if (::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode)) return;
  ::close(fd_);
  throw Error(ErrorCode::kValue, tag, fmt::format("given '{}', expected a regular file", path_));
}

InputFile::~InputFile() { ::close(fd_); }

uint64_t InputFile::size() const {
  struct stat info {};
  if (::fstat(fd_, &info) != 0) file_error(tag_, path_, "read", errno);
  return static_cast<uint64_t>(info.st_size);
}

std::size_t InputFile::read_at(uint64_t offset, void* to, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(fd_, static_cast<char*>(to) + done, bytes - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) file_error(tag_, path_, "read", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void InputFile::fail(uint64_t offset, const std::string& message) const {
  throw Error(ErrorCode::kValue, tag_,
              fmt::format("given '{}' at byte {}: {}", path_, offset, message));
}

}  // namespace mxnet::io
