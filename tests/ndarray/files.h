// SPDX-License-Identifier: Apache-2.0
// Sample files of the reference (tests/data/params), and a folder of the test's own.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "ndarray/load.h"
#include "ndarray/save.h"
#include "paths.h"

namespace mxnet::testing_files {

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  ASSERT_TRUE(file.good()) << path;
}
inline std::string sample_path(const std::string& name) { return test_data("params/" + name); }
inline std::string sample(const std::string& name) { return content_of(sample_path(name)); }

inline LoadedArrays load_text(const std::string& text, NumpyShape mode = NumpyShape::kOff) {
  BufferSource source(text.data(), text.size());
  return load_arrays(source, mode);
}
inline std::string save_text(const LoadedArrays& loaded, bool numpy_shapes = false) {
  StringSink sink;
  save_arrays(loaded.arrays, loaded.names, numpy_shapes, sink);
  return sink.take();
}

// Removed with everything in it at the end of the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mxnet_test_XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace mxnet::testing_files
