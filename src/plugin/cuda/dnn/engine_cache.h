// SPDX-License-Identifier: Apache-2.0
// Engines chosen before, for the process and on disk, so that a convolution is timed once a GPU.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "base/lock.h"
#include "plugin/cuda/cudnn_engines.h"
#include "plugin/cuda/toolkit/disk_cache.h"

namespace mxnet::cuda {

// Thread-safe.
class EngineCache {
 public:
  explicit EngineCache(DiskCache disk) : disk_(std::move(disk)) {}

  // The position, among `candidates`, of the engine that was chosen under `key`; nothing where none
  // was, or where it is no longer offered.
  std::optional<std::size_t> find(const std::string& key,
                                  const std::vector<EngineConfig>& candidates);
  void keep(const std::string& key, const EngineConfig& chosen);

  // What was chosen under the same key before, with a report where the policy asks for one.
  EngineChoice kept(const std::string& key, const std::string& title,
                    const std::vector<EngineConfig>& candidates, const EnginePolicy& policy);
  // That, else choose_engine's choice, which is kept.
  EngineChoice choose(const std::string& key, const std::string& title,
                      const std::vector<EngineConfig>& candidates, const EnginePolicy& policy,
                      const EngineTimer& timer);

 private:
  const DiskCache disk_;
  Mutex mutex_;
  std::map<std::string, std::string> chosen_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet::cuda
