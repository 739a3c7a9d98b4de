// SPDX-License-Identifier: Apache-2.0
// A file that is read by position, and the errors that name it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace mxnet::io {

// read_at may be called from several threads at once. A path may start with "file://"; other
// schemes are refused with an error that says so.
class InputFile {
 public:
  // `tag` names the subsystem that complains; a literal.
  InputFile(std::string path, const char* tag);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  // Bytes of the file at this moment: it may grow.
  uint64_t size() const;
  // Up to `bytes` bytes from `offset` on; fewer only at the end of the file.
  std::size_t read_at(uint64_t offset, void* to, std::size_t bytes) const;
  // Throws Error(kValue, tag): "given '<path>' at byte <offset>: <message>".
  [[noreturn]] void fail(uint64_t offset, const std::string& message) const;

 private:
  std::string path_;
  const char* tag_;
  int fd_;
};

// Throws Error(kValue, tag): "given '<path>': cannot <verb>: <system's text>".
[[noreturn]] void file_error(const char* tag, const std::string& path, const char* verb, int error);

// `path` for the system: without "file://". Throws Error(kValue, tag) for other schemes.
std::string local_file(const std::string& path, const char* tag);

}  // namespace mxnet::io
