// SPDX-License-Identifier: Apache-2.0
// Results that are costly to get (compiled kernels, measured choices of engines), kept in files
// between processes.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace mxnet::cuda {

// Thread-safe, and safe beside other processes: a file appears whole, under its final name, or not
// at all, and says itself for which key it is. Nothing here throws: a cache that cannot be used is
// an empty one, and says so once.
class DiskCache {
 public:
  // `max_bytes` 0 = keeps nothing and finds nothing.
  DiskCache(std::filesystem::path folder, uint64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}
  // As MXNET_CUDA_CACHE_DIR and MXNET_CUDA_CACHE_SIZE say now.
  static DiskCache configured();

  // What was put under `key`; nothing for files that are damaged, which are removed.
  std::optional<std::string> get(const std::string& key) const;
  // Files that were not used for longest make room.
  void put(const std::string& key, const std::string& value) const;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file_of(const std::string& key) const;

 private:
  void make_room() const;

  const std::filesystem::path folder_;
  const uint64_t max_bytes_;
};

// A leading ~ becomes the user's home.
std::filesystem::path expand_home(const std::string& path);

}  // namespace mxnet::cuda
