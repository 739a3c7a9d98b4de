// SPDX-License-Identifier: Apache-2.0
// The RecordIO writer.
#include "io/record_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/log.h"
#include "base/process_id.h"
#include "io/input_file.h"
#include "io/record_format.h"

namespace mxnet::io {
namespace {

constexpr const char* kTag = "RecordIO";
// Large enough that the system call does not count, small enough for the second-level cache.
constexpr std::size_t kBufferBytes = 256 << 10;

}  // namespace

RecordWriter::RecordWriter(const std::string& path) : path_(path), owner_(process_id()) {
  fd_ = ::open(local_file(path, kTag).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) file_error(kTag, path, "open for writing", errno);
  buffer_.reserve(kBufferBytes);
}

RecordWriter::~RecordWriter() {
  try {
    if (process_id() == owner_) flush();
  } catch (const Error& error) {
    log(LogLevel::kError, error.what());
  }
  ::close(fd_);
}

void RecordWriter::write(std::string_view record) {
  if (record.size() > kLongestRecord) {
    throw Error(ErrorCode::kValue, kTag,
                fmt::format("given a record of {} bytes, expected at most {}", record.size(),
                            kLongestRecord));
  }
  if (process_id() != owner_) {
    throw Error(ErrorCode::kValue, kTag,
                fmt::format("given '{}', opened for writing before a fork: open it anew", path_));
  }
  std::size_t start = 0;
  PartKind kind = PartKind::kFirst;
  for (;;) {
    const std::size_t end = find_magic(record.data(), record.size(), start);
    if (end == record.size()) break;
    put_part(static_cast<uint32_t>(kind), record.substr(start, end - start));
    kind = PartKind::kMiddle;
    start = end + sizeof kRecordMagic;
  }
  const PartKind last = kind == PartKind::kFirst ? PartKind::kWhole : PartKind::kLast;
  put_part(static_cast<uint32_t>(last), record.substr(start));
}

void RecordWriter::put_part(uint32_t kind, std::string_view payload) {
  const auto length = static_cast<uint32_t>(payload.size());
  const PartHeader header{kRecordMagic, kind << kLengthBits | length};
  put(&header, sizeof header);
  put(payload.data(), payload.size());
  const uint32_t zeros = 0;
  put(&zeros, padded_length(length) - length);
}

void RecordWriter::put(const void* data, std::size_t bytes) {
  if (buffer_.size() + bytes > kBufferBytes) flush();
  if (bytes > kBufferBytes) {
    write_out(static_cast<const char*>(data), bytes);
  } else {
    buffer_.append(static_cast<const char*>(data), bytes);
  }
}

void RecordWriter::flush() {
  write_out(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void RecordWriter::write_out(const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(fd_, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) file_error(kTag, path_, "write", errno);
    data += done;
    bytes -= static_cast<std::size_t>(done);
    written_ += static_cast<uint64_t>(done);
  }
}

}  // namespace mxnet::io
