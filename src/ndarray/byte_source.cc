// SPDX-License-Identifier: Apache-2.0
// Reads from memory, and from files through a small buffer ahead of the fields.
#include "ndarray/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "ndarray/byte_sink.h"

namespace mxnet {
namespace {

constexpr uint64_t kBufferBytes = 64 * 1024;

[[noreturn]] void system_error(const std::string& path, const char* what, int error) {
  throw Error(ErrorCode::kGeneric, "NDArray file",
              fmt::format("cannot {} '{}': {}", what, path, std::strerror(error)));
}

// As many of `bytes` as there are before the end.
uint64_t read_some(int fd, char* to, uint64_t offset, uint64_t bytes, const std::string& path) {
  uint64_t done = 0;
  while (done < bytes) {
    // A single call moves at most 2^31 - 4096 bytes.
    const ssize_t n = ::pread(fd, to + done, std::min<uint64_t>(bytes - done, 1u << 30),
                              static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) system_error(path, "read", errno);
    if (n == 0) break;
    done += static_cast<uint64_t>(n);
  }
  return done;
}

std::vector<char> read_to_end(int fd, const std::string& path) {
  std::vector<char> content;
  while (true) {
    const std::size_t before = content.size();
    content.resize(before + kBufferBytes);
    const ssize_t n = ::read(fd, content.data() + before, kBufferBytes);
    content.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n == 0) return content;
    if (n < 0 && errno != EINTR) {
      const int error = errno;
      ::close(fd);
      system_error(path, "read", error);
    }
  }
}

}  // namespace

void ByteSource::read(void* to, uint64_t bytes, const char* what) {
  if (bytes > remaining()) {
    fail(fmt::format("{} needs {} bytes, {} are left: the file is cut off or damaged", what, bytes,
                     remaining()));
  }
  if (bytes == 0) return;
  fetch(to, offset_, bytes);
  offset_ += bytes;
}

void ByteSource::fail(uint64_t offset, const std::string& message) const {
  throw Error(ErrorCode::kValue, "NDArray file",
              fmt::format("given '{}', invalid NDArray file format at byte {}: {}", name_, offset,
                          message));
}

BufferSource::BufferSource(const void* data, std::size_t bytes, std::string name)
    : ByteSource(std::move(name), bytes), data_(static_cast<const char*>(data)) {}

void BufferSource::fetch(void* to, uint64_t offset, uint64_t bytes) {
  std::memcpy(to, data_ + offset, bytes);
}

FileSource::FileSource(const std::string& path) : FileSource(path, open(path)) {}

FileSource::FileSource(const std::string& path, Opened opened)
    : ByteSource(path, opened.size),
      fd_(opened.fd),
      buffer_(std::move(opened.content)),
      whole_(opened.whole) {}

FileSource::~FileSource() { ::close(fd_); }

FileSource::Opened FileSource::open(const std::string& path) {
  const int fd = ::open(local_path(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) system_error(path, "open", errno);
  struct stat info {};
  if (::fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
    const int error = S_ISDIR(info.st_mode) ? EISDIR : errno;
    ::close(fd);
    system_error(path, "read", error);
  }
  if (S_ISREG(info.st_mode)) return {fd, static_cast<uint64_t>(info.st_size), {}, false};
  std::vector<char> content = read_to_end(fd, path);
  const uint64_t size = content.size();
  return {fd, size, std::move(content), true};
}

void FileSource::fetch(void* to, uint64_t offset, uint64_t bytes) {
  char* target = static_cast<char*>(to);
  const uint64_t buffered = buffer_start_ + buffer_.size();
  if (offset >= buffer_start_ && offset + bytes <= buffered) {
    std::memcpy(target, buffer_.data() + (offset - buffer_start_), bytes);
    return;
  }
  MX_ASSERT(!whole_);
  if (bytes < kBufferBytes) {  // a field: read ahead
    buffer_.resize(kBufferBytes);
    buffer_start_ = offset;
    buffer_.resize(read_some(fd_, buffer_.data(), offset, kBufferBytes, name()));
    if (buffer_.size() < bytes) fail("the file has shrunk while it was read");
    std::memcpy(target, buffer_.data(), bytes);
  } else if (read_some(fd_, target, offset, bytes, name()) < bytes) {
    fail("the file has shrunk while it was read");
  }
}

}  // namespace mxnet
