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
  throw Error(ErrorCode::kGeneric, kArrayFileTag,
              fmt::format("cannot {} '{}': {}", what, path, std::strerror(error)));
}

std::vector<char> read_to_end(int fd, const std::string& path) {
  std::vector<char> content;
  Transfer transfer;
  while (true) {
    const std::size_t before = content.size();
    content.resize(before + kBufferBytes);
    const ssize_t n = ::read(fd, content.data() + before, kBufferBytes);
    content.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n == 0) return content;
    if (n < 0 && errno != EINTR) system_error(path, "read", errno);
    transfer.moved(kBufferBytes, n);
  }
}

int open_to_read(const std::string& path) {
  const std::string name = local_path(path, kArrayFileTag);
  Transfer transfer;  // a pipe waits for its writer
  int fd;
  while ((fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC)) < 0) {
    if (errno != EINTR) system_error(path, "open", errno);
    transfer.cut_short();
  }
  return fd;
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
  throw Error(ErrorCode::kValue, kArrayFileTag,
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
  const int fd = open_to_read(path);
  try {
    struct stat info {};
    if (::fstat(fd, &info) != 0) system_error(path, "read", errno);
    if (S_ISDIR(info.st_mode)) system_error(path, "read", EISDIR);
    if (S_ISREG(info.st_mode)) return {fd, static_cast<uint64_t>(info.st_size), {}, false};
    std::vector<char> content = read_to_end(fd, path);
    const uint64_t size = content.size();
    return {fd, size, std::move(content), true};
  } catch (...) {
    ::close(fd);
    throw;
  }
}

// As many of `bytes` as there are before the end.
uint64_t FileSource::read_some(char* to, uint64_t offset, uint64_t bytes) {
  uint64_t done = 0;
  while (done < bytes) {
    const std::size_t piece = std::min<uint64_t>(bytes - done, Transfer::kPieceBytes);
    const ssize_t n = ::pread(fd_, to + done, piece, static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n < 0 && errno != EINTR) system_error(name(), "read", errno);
    transfer_.moved(piece, n);
    done += static_cast<uint64_t>(std::max<ssize_t>(n, 0));
  }
  return done;
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
    buffer_.resize(read_some(buffer_.data(), offset, kBufferBytes));
    if (buffer_.size() < bytes) fail("the file has shrunk while it was read");
    std::memcpy(target, buffer_.data(), bytes);
  } else if (read_some(target, offset, bytes) < bytes) {
    fail("the file has shrunk while it was read");
  }
}

}  // namespace mxnet
