// SPDX-License-Identifier: Apache-2.0
// A file: a line that names the format, lengths and a checksum, then key and value.
#include "plugin/cuda/toolkit/disk_cache.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "base/config.h"
#include "base/fnv.h"
#include "base/log.h"

namespace mxnet::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".mxcache";

// The key stands in the file, so a collision costs a miss and nothing else.
uint64_t hash(const std::string& text, uint64_t seed) {
  Fnv hash(seed);
  hash.take(text);
  return hash.value();
}

std::string header(const std::string& key, const std::string& value) {
  return fmt::format("mxnet cache 1 {} {} {:016x}\n", key.size(), value.size(),
                     hash(value, hash(key, 0)));
}

void warn_once(const fs::path& folder, const std::string& reason) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  log(LogLevel::kWarning,
      fmt::format("cuda: {} cannot be used as a cache ({}); MXNET_CUDA_CACHE_DIR sets another "
                  "folder, MXNET_CUDA_CACHE_SIZE=0 switches it off",
                  folder.string(), reason));
}

struct Kept {
  fs::path path;
  uint64_t bytes;
  fs::file_time_type used;
};

std::vector<Kept> list(const fs::path& folder) {
  std::vector<Kept> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != kSuffix) continue;
    std::error_code gone;  // by another process, in between
    const uint64_t bytes = at->file_size(gone);
    const fs::file_time_type used = gone ? fs::file_time_type() : at->last_write_time(gone);
    if (!gone) files.push_back({at->path(), bytes, used});
  }
  return files;
}

}  // namespace

fs::path expand_home(const std::string& path) {
  if (path.empty() || path[0] != '~' || (path.size() > 1 && path[1] != '/')) return path;
  passwd record{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  if (::getpwuid_r(::geteuid(), &record, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr)
    return fs::temp_directory_path() / fmt::format("mxnet-{}", ::geteuid()) / path.substr(1);
  return std::string(record.pw_dir) + path.substr(1);
}

DiskCache DiskCache::configured() {
  const CudaConfig& settings = config().cuda;
  return {expand_home(settings.cache_dir),
          static_cast<uint64_t>(settings.cache_size) * uint64_t{1024 * 1024}};
}

fs::path DiskCache::file_of(const std::string& key) const {
  return folder_ / fmt::format("{:016x}{:016x}{}", hash(key, 0), hash(key, 1), kSuffix);
}

std::optional<std::string> DiskCache::get(const std::string& key) const {
  if (max_bytes_ == 0) return std::nullopt;
  const fs::path path = file_of(key);
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t line = all.find('\n');
  std::error_code ignored;
  if (line != std::string::npos && all.compare(line + 1, key.size(), key) == 0) {
    std::string value = all.substr(std::min(all.size(), line + 1 + key.size()));
    if (header(key, value) == all.substr(0, line + 1)) {
      fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
      return value;
    }
  }
  fs::remove(path, ignored);
  return std::nullopt;
}

void DiskCache::put(const std::string& key, const std::string& value) const {
  if (max_bytes_ == 0 || key.size() + value.size() > max_bytes_) return;
  static std::atomic<uint64_t> counter{0};
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return warn_once(folder_, error.message());
  const fs::path path = file_of(key);
  fs::path part = path;
  part += fmt::format(".{}.{}", ::getpid(), counter.fetch_add(1, std::memory_order_relaxed));
  std::ofstream file(part, std::ios::binary);
  file << header(key, value) << key << value;
  file.close();
  if (file) {
    fs::rename(part, path, error);
    if (!error) return make_room();
  }
  std::error_code ignored;
  fs::remove(part, ignored);
  warn_once(folder_, error ? error.message() : "writing fails");
}

void DiskCache::make_room() const {
  std::vector<Kept> files = list(folder_);
  uint64_t total = 0;
  for (const Kept& file : files) total += file.bytes;
  if (total <= max_bytes_) return;
  std::sort(files.begin(), files.end(),
            [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& file : files) {
    if (total <= max_bytes_) return;
    std::error_code ignored;
    fs::remove(file.path, ignored);
    total -= file.bytes;
  }
}

}  // namespace mxnet::cuda
