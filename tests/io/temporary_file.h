// SPDX-License-Identifier: Apache-2.0
// A file with some bytes, gone at the end.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace mxnet::testing_io {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content = {}) {
    std::string name = (std::filesystem::temp_directory_path() / "mxnet_io_XXXXXX").string();
    ::close(::mkstemp(name.data()));
    path_ = name;
    write(content);
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  void write(std::string_view content) const {
    std::ofstream(path_, std::ios::binary) << std::string(content);
  }
  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

}  // namespace mxnet::testing_io
