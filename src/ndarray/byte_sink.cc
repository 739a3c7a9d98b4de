// SPDX-License-Identifier: Apache-2.0
// The atomic file: create beside, write, fsync, rename, fsync the folder.
#include "ndarray/byte_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace mxnet {
namespace {

constexpr std::size_t kBufferBytes = 64 * 1024;

std::string resolve_links(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) != nullptr ? std::string(resolved) : path;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Unique among processes by the pid and among threads by the count; O_EXCL settles leftovers.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  // Relaxed: only the number's uniqueness matters.
  return fmt::format("{}.tmp-{}-{}", path, ::getpid(),
                     count.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace

std::string local_path(const std::string& uri) {
  const std::size_t scheme = uri.find("://");
  if (scheme == std::string::npos) return uri;
  if (uri.compare(0, scheme, "file") == 0) return uri.substr(scheme + 3);
  throw Error(ErrorCode::kNotImplemented, "NDArray file",
              fmt::format("given '{}', expected a local path or file://", uri));
}

AtomicFileSink::AtomicFileSink(const std::string& path)
    : shown_path_(path), target_(resolve_links(local_path(path))) {
  buffer_.reserve(kBufferBytes);
  struct stat existing {};
  const bool exists = ::stat(target_.c_str(), &existing) == 0;
  if (exists && !S_ISREG(existing.st_mode)) {
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail("open", errno);
    return;
  }
  do {
    temporary_ = temporary_name(target_);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) {
    const int error = errno;
    temporary_.clear();
    fail("create a file beside", error);
  }
  // The new file keeps the old one's permissions; where that is refused the default ones will do.
  if (exists && ::fchmod(fd_, existing.st_mode & 07777) != 0) errno = 0;
}

AtomicFileSink::~AtomicFileSink() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFileSink::write(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  if (buffer_.size() + bytes > kBufferBytes) flush();
  if (bytes >= kBufferBytes) return write_through(from, bytes);
  buffer_.insert(buffer_.end(), from, from + bytes);
}

void AtomicFileSink::flush() {
  write_through(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFileSink::write_through(const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(fd_, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("write", errno);
    data += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void AtomicFileSink::commit() {
  flush();
  if (temporary_.empty()) {
    if (::close(std::exchange(fd_, -1)) != 0) fail("close", errno);
    return;
  }
  if (::fsync(fd_) != 0) fail("sync", errno);
  if (::close(std::exchange(fd_, -1)) != 0) fail("close", errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("rename onto", errno);
  temporary_.clear();
  // The name itself becomes durable with its folder; some file systems cannot, and then have done
  // what they can.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void AtomicFileSink::fail(const char* what, int error) const {
  throw Error(ErrorCode::kGeneric, "NDArray file",
              fmt::format("cannot {} '{}': {}", what, shown_path_, std::strerror(error)));
}

}  // namespace mxnet
