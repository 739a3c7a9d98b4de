// SPDX-License-Identifier: Apache-2.0
// The lines of one part of a text file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/input_file.h"

namespace mxnet::io {

// Parts are equal numbers of bytes; a line belongs to the part in which it starts. Not thread-safe.
class TextLines {
 public:
  // What begins with `comment` ends a line; 0: nothing does. REQUIRES: part < parts.
  TextLines(const std::string& path, const char* tag, uint32_t part = 0, uint32_t parts = 1,
            char comment = 0);

  // The next line without its end ("\n" or "\r\n"), good until the next call; nothing at the end.
  // Empty lines are passed over, and so is the mark of UTF-8 that a file may begin with.
  std::optional<std::string_view> next();
  void rewind();
  // Error(kValue) with file, offset and content of the line that was given last.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  std::optional<std::string_view> next_line();
  bool fill();

  InputFile file_;
  const char comment_;
  uint64_t first_ = 0, end_ = 0;  // bytes of the part
  std::vector<char> buffer_;
  uint64_t buffer_start_ = 0;
  std::size_t filled_ = 0, at_ = 0;  // in the buffer
  std::string_view line_;
  uint64_t line_offset_ = 0;
};

}  // namespace mxnet::io
