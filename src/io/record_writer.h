// SPDX-License-Identifier: Apache-2.0
// Writes RecordIO files.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mxnet::io {

// Not thread-safe. Bytes reach the file when the buffer is full, at flush() and at the end. A copy
// that a fork made writes nothing: what is buffered belongs to the process that opened the file.
class RecordWriter {
 public:
  // Makes the file, or empties it. Throws Error(kValue) with the system's reason.
  explicit RecordWriter(const std::string& path);
  ~RecordWriter();  // flushes; what fails then is logged
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // Throws Error(kValue) for a record above 2^29 - 1 bytes.
  void write(std::string_view record);
  // Where the next record will start.
  uint64_t tell() const { return written_ + buffer_.size(); }
  void flush();

 private:
  void put_part(uint32_t kind, std::string_view payload);
  void put(const void* data, std::size_t bytes);
  void write_out(const char* data, std::size_t bytes);

  std::string path_;
  int fd_;
  int owner_;             // the process that opened it
  uint64_t written_ = 0;  // bytes in the file
  std::string buffer_;    // bytes that follow them
};

}  // namespace mxnet::io
