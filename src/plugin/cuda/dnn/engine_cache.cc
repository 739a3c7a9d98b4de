// SPDX-License-Identifier: Apache-2.0
// An engine is kept as its number and knobs.
#include "plugin/cuda/dnn/engine_cache.h"

#include <fmt/format.h>

namespace mxnet::cuda {
namespace {

std::string signature(const EngineConfig& config) {
  std::string text = fmt::format("{}", config.engine);
  for (const EngineKnob& knob : config.knobs) text += fmt::format(" {}={}", knob.type, knob.value);
  return text;
}

}  // namespace

std::optional<std::size_t> EngineCache::find(const std::string& key,
                                             const std::vector<EngineConfig>& candidates) {
  std::string wanted;
  {
    MutexLock lock(mutex_);
    if (const auto at = chosen_.find(key); at != chosen_.end()) wanted = at->second;
  }
  if (wanted.empty()) {
    wanted = disk_.get("engine " + key).value_or("");
    if (wanted.empty()) return std::nullopt;
    MutexLock lock(mutex_);
    chosen_[key] = wanted;
  }
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (signature(candidates[i]) == wanted) return i;
  return std::nullopt;
}

void EngineCache::keep(const std::string& key, const EngineConfig& chosen) {
  const std::string text = signature(chosen);
  {
    MutexLock lock(mutex_);
    chosen_[key] = text;
  }
  disk_.put("engine " + key, text);
}

EngineChoice EngineCache::kept(const std::string& key, const std::string& title,
                               const std::vector<EngineConfig>& candidates,
                               const EnginePolicy& policy) {
  EngineChoice choice{find(key, candidates), "", nullptr};
  if (choice.chosen && policy.verbose > 0)
    choice.report = title + " (chosen before)\n" +
                    fmt::format("* {} eng:{}\n", *choice.chosen, candidates[*choice.chosen].engine);
  return choice;
}

EngineChoice EngineCache::choose(const std::string& key, const std::string& title,
                                 const std::vector<EngineConfig>& candidates,
                                 const EnginePolicy& policy, const EngineTimer& timer) {
  if (EngineChoice before = kept(key, title, candidates, policy); before.chosen) return before;
  EngineChoice choice = choose_engine(title, candidates, policy, timer);
  // A full device's choice is not for others, who may have room for a faster engine.
  if (choice.chosen && choice.no_room == nullptr) keep(key, candidates[*choice.chosen]);
  return choice;
}

}  // namespace mxnet::cuda
