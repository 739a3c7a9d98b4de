// SPDX-License-Identifier: Apache-2.0
// The atomic file: create beside, write, fsync, rename, fsync the folder.
#include "ndarray/byte_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace mxnet {
namespace {

constexpr std::size_t kBufferBytes = 64 * 1024;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Unique among processes by the pid and among threads by the count; O_EXCL settles leftovers.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  // Relaxed: only the number's uniqueness matters.
  const unsigned number = count.fetch_add(1, std::memory_order_relaxed);
  return name_beside(path, fmt::format(".tmp-{}-{}", ::getpid(), number));
}

}  // namespace

AtomicFileSink::AtomicFileSink(const std::string& path, const char* tag)
    : tag_(tag), shown_path_(path), target_(destination_of(local_path(path, tag))) {
  buffer_.reserve(kBufferBytes);
  if (!target_.replaceable || !open_beside()) open_in_place();
}

// False: the folder takes no new files, but may hold one that can be written.
bool AtomicFileSink::open_beside() {
  do {
    temporary_ = temporary_name(target_.path);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) {
    const int error = errno;
    temporary_.clear();
    const bool refused = error == EACCES || error == EPERM || error == EROFS;
    if (!target_.exists || !refused) fail("create a file beside", error);
    return false;
  }
  if (target_.exists) take_over_rights(target_.path, fd_);
  return true;
}

void AtomicFileSink::open_in_place() {
  // A pipe waits for its reader.
  while ((fd_ = ::open(target_.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC)) < 0) {
    if (errno != EINTR) fail("open", errno);
    transfer_.cut_short();
  }
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
    const std::size_t piece = std::min(bytes, Transfer::kPieceBytes);
    const ssize_t done = ::write(fd_, data, piece);
    if (done < 0 && errno != EINTR) fail("write", errno);
    transfer_.moved(piece, done);
    data += std::max<ssize_t>(done, 0);
    bytes -= static_cast<std::size_t>(std::max<ssize_t>(done, 0));
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
  if (::rename(temporary_.c_str(), target_.path.c_str()) != 0) fail("rename onto", errno);
  temporary_.clear();
  // The name itself becomes durable with its folder; some file systems cannot, and then have done
  // what they can.
  const int folder = ::open(folder_of(target_.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void AtomicFileSink::fail(const char* what, int error) const {
  throw Error(ErrorCode::kGeneric, tag_,
              fmt::format("cannot {} '{}': {}", what, shown_path_, std::strerror(error)));
}

}  // namespace mxnet
