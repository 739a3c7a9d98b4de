// SPDX-License-Identifier: Apache-2.0
// The cache of compiled kernels on disk: what it keeps, and what it makes of damage.
#include "plugin/cuda/toolkit/disk_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/config.h"
#include "setting.h"

namespace mxnet::cuda {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::path(::testing::TempDir()) / ("cache_" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(path_)) count += entry.is_regular_file();
    return count;
  }

 private:
  const fs::path path_;
};

TEST(DiskCache, GivesBackWhatWasPut) {
  const Folder folder;
  const DiskCache cache(folder.path(), 1 << 20);
  const std::string value("with \0 zeros\n", 13);
  EXPECT_EQ(cache.get("key"), std::nullopt);
  cache.put("key", value);
  cache.put("empty", "");
  EXPECT_EQ(cache.get("key"), value);
  EXPECT_EQ(cache.get("empty"), "");
  EXPECT_EQ(cache.get("ke"), std::nullopt);
  EXPECT_EQ(DiskCache(folder.path(), 1 << 20).get("key"), value) << "another process's";
}

TEST(DiskCache, DamagedFilesAreMissesAndGo) {
  const Folder folder;
  const DiskCache cache(folder.path(), 1 << 20);
  for (const std::string damage : {"shorter", "changed", "empty", "other key"}) {
    cache.put("key", "value");
    const fs::path path = cache.file_of("key");
    if (damage == "shorter") fs::resize_file(path, fs::file_size(path) - 1);
    if (damage == "empty") fs::resize_file(path, 0);
    if (damage == "changed") {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-1, std::ios::end);
      file.put('!');
    }
    if (damage == "other key") {
      cache.put("other", "value of another");
      fs::rename(cache.file_of("other"), path);
    }
    EXPECT_EQ(cache.get("key"), std::nullopt) << damage;
    EXPECT_FALSE(fs::exists(path)) << damage;
  }
}

TEST(DiskCache, TheOldestMakesRoom) {
  const Folder folder;
  const DiskCache cache(folder.path(), 1000);
  const auto start = fs::file_time_type::clock::now();
  for (int i = 0; i < 3; ++i) {
    const std::string key = "key " + std::to_string(i);
    cache.put(key, std::string(250, 'x'));
    fs::last_write_time(cache.file_of(key), start - std::chrono::hours(3 - i));
  }
  EXPECT_TRUE(cache.get("key 0")) << "is the newest now";
  cache.put("key 3", std::string(250, 'x'));
  EXPECT_TRUE(cache.get("key 0"));
  EXPECT_FALSE(cache.get("key 1"));
  EXPECT_TRUE(cache.get("key 2"));
  EXPECT_TRUE(cache.get("key 3"));
  cache.put("too large", std::string(1000, 'x'));
  EXPECT_FALSE(cache.get("too large"));
  EXPECT_EQ(folder.files(), 3u);
}

TEST(DiskCache, KeepsNothingWithoutASize) {
  const Folder folder;
  const DiskCache cache(folder.path(), 0);
  cache.put("key", "value");
  EXPECT_EQ(cache.get("key"), std::nullopt);
  EXPECT_FALSE(fs::exists(folder.path()));
}

TEST(DiskCache, AFolderThatCannotBeMadeIsAnEmptyCache) {
  const DiskCache cache("/proc/no/such", 1000);
  cache.put("key", "value");
  EXPECT_EQ(cache.get("key"), std::nullopt);
}

TEST(DiskCache, WritersAtTheSameTimeLeaveWholeFiles) {
  const Folder folder;
  const DiskCache cache(folder.path(), 1 << 20);
  const auto work = [&](char c) {
    for (int i = 0; i < 50; ++i) cache.put("key", std::string(2000, c));
  };
  std::thread other(work, 'a');
  work('b');
  other.join();
  const auto value = cache.get("key");
  ASSERT_TRUE(value);
  EXPECT_TRUE(*value == std::string(2000, 'a') || *value == std::string(2000, 'b'));
  EXPECT_EQ(folder.files(), 1u) << "no parts are left";
}

TEST(DiskCache, LiesInTheConfiguredFolder) {
  // The rows are live: what is set now is used by the next look.
  const CudaConfig& settings = config().cuda;
  EXPECT_EQ(DiskCache::configured().folder(), expand_home(settings.cache_dir));
  EXPECT_EQ(expand_home("/a/~b"), "/a/~b");
  EXPECT_EQ(expand_home("~user/x"), "~user/x");
  const std::string home = expand_home("~/x");
  EXPECT_EQ(home.front(), '/');
  EXPECT_EQ(home.substr(home.size() - 2), "/x");
}

TEST(DiskCache, HasTheConfiguredSize) {
  const Folder folder;
  const Setting where("MXNET_CUDA_CACHE_DIR", folder.path().string());
  {
    const Setting none("MXNET_CUDA_CACHE_SIZE", "0");
    DiskCache::configured().put("key", "value");
    EXPECT_FALSE(fs::exists(folder.path()));
  }
  const Setting megabytes("MXNET_CUDA_CACHE_SIZE", "1");
  for (const char* key : {"one", "two"})
    DiskCache::configured().put(key, std::string(600 << 10, 'x'));
  EXPECT_EQ(folder.files(), 1u);
}

}  // namespace
}  // namespace mxnet::cuda
