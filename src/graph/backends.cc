// SPDX-License-Identifier: Apache-2.0
// The table of backends, and options of one call.
#include "graph/backends.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "base/config.h"
#include "base/error.h"
#include "base/leaked.h"
#include "base/lock.h"
#include "graph/fuse_conv.h"
#include "graph/fuse_dense.h"
#include "graph/passes.h"
#include "graph/quantize_fuse.h"
#include "op/params/param_text.h"

namespace mxnet {
namespace {

constexpr std::string_view kDedup = "dedup_subgraph";

struct Backends {
  Mutex mutex;
  std::map<std::string, std::shared_ptr<const Partitioner>> by_name MX_GUARDED_BY(mutex);
};

Backends& backends() {
  static Leaked<Backends> backends;
  return *backends;
}

[[noreturn]] void refuse_option(const std::string& name, std::string_view option) {
  throw Error(ErrorCode::kValue, "optimize_for",
              fmt::format("given option '{}' for the backend {}, expected {} or one of the "
                          "backend's own options",
                          option, name, kDedup));
}

bool flag(std::string_view key, std::string_view text) {
  try {
    return ParamText<bool>::parse(text);
  } catch (const ParamError&) {
    throw Error(ErrorCode::kValue, "optimize_for",
                fmt::format("given {}='{}', expected a boolean", key, text));
  }
}

// Every layer that may run as one with what follows it does.
bool fuses_all_layers() {
  const FuseOptions conv = FuseOptions::configured();
  const FuseDenseOptions dense = FuseDenseOptions::configured();
  return conv.conv && conv.batch_norm && conv.activation && conv.sum && dense.dense &&
         dense.activation && dense.sum;
}

}  // namespace

void register_backend(const std::string& name, std::shared_ptr<const Partitioner> partitioner) {
  const MutexLock lock(backends().mutex);
  backends().by_name[name] = std::move(partitioner);
}

bool remove_backend(const std::string& name) {
  const MutexLock lock(backends().mutex);
  return backends().by_name.erase(name) > 0;
}

std::shared_ptr<const Partitioner> backend(const std::string& name) {
  if (is_onednn_backend(name) || is_quantize_backend(name)) return nullptr;
  const MutexLock lock(backends().mutex);
  const auto at = backends().by_name.find(name);
  if (at != backends().by_name.end()) return at->second;
  std::string known = "ONEDNN";
  for (const auto& [other, partitioner] : backends().by_name) known += ", " + other;
  throw Error(ErrorCode::kValue, "backend",
              fmt::format("given {}, expected one of: {}", name, known));
}

ir::Graph optimize_for_backend(const ir::Graph& graph, const std::string& name,
                               const Attrs& options, const KnownTypes& known) {
  std::shared_ptr<const Partitioner> partitioner = backend(name);
  bool share_equal = false;
  std::vector<std::pair<std::string_view, std::string_view>> own;
  for (const auto& [key, text] : options) {
    if (key == kDedup) {
      share_equal = flag(key, text);
    } else {
      own.emplace_back(key, text);
    }
  }
  if (!own.empty()) {
    if (partitioner) partitioner = partitioner->with_options(own);
    if (!partitioner) refuse_option(name, own.front().first);
  }
  if (is_quantize_backend(name)) return fuse_for_quantization(graph);
  return partitioner ? partition(graph, *partitioner, share_equal)
                     : run_passes(graph, known, configured_passes());
}

ir::Graph shown_for_backend(const ir::Graph& compiled, const std::string& name, bool training) {
  if (name == "NONE") return compiled;
  if (const auto partitioner = backend(name)) return partition(compiled, *partitioner);
  const bool fuses = is_quantize_backend(name) || (config().onednn.enabled && fuses_all_layers());
  return fuses && !training ? fuse_for_quantization(compiled) : compiled;
}

}  // namespace mxnet
