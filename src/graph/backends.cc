// SPDX-License-Identifier: Apache-2.0
// The table of backends, and options of one call.
#include "graph/backends.h"

#include <fmt/format.h>

#include <map>
#include <set>
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
  std::map<std::string, GraphBackend> of_graphs MX_GUARDED_BY(mutex);
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

void register_graph_backend(const std::string& name, GraphBackend backend) {
  const MutexLock lock(backends().mutex);
  backends().of_graphs[name] = std::move(backend);
}

GraphBackend graph_backend(const std::string& name) {
  const MutexLock lock(backends().mutex);
  const auto at = backends().of_graphs.find(name);
  return at == backends().of_graphs.end() ? GraphBackend() : at->second;
}

void check_backend(const std::string& name, std::span<const std::string> others) {
  if (is_onednn_backend(name) || is_quantize_backend(name)) return;
  std::set<std::string> known(others.begin(), others.end());
  {
    const MutexLock lock(backends().mutex);
    for (const auto& [other, partitioner] : backends().by_name) known.insert(other);
    for (const auto& [other, whole] : backends().of_graphs) known.insert(other);
  }
  if (known.count(name) > 0) return;
  throw Error(ErrorCode::kValue, "backend",
              fmt::format("given {}, expected one of: ONEDNN{}{}", name, known.empty() ? "" : ", ",
                          fmt::join(known, ", ")));
}

std::shared_ptr<const Partitioner> backend(const std::string& name) {
  check_backend(name);
  const MutexLock lock(backends().mutex);
  if (backends().of_graphs.count(name) > 0) return nullptr;
  const auto at = backends().by_name.find(name);
  return at == backends().by_name.end() ? nullptr : at->second;
}

ir::Graph optimize_for_backend(const ir::Graph& graph, const std::string& name,
                               const Attrs& options, const KnownTypes& known) {
  if (const GraphBackend whole = graph_backend(name)) return whole(graph, {}, options);
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
  if (name == "NONE" || graph_backend(name)) return compiled;
  if (const auto partitioner = backend(name)) return partition(compiled, *partitioner);
  const bool fuses = is_quantize_backend(name) || (config().onednn.enabled && fuses_all_layers());
  return fuses && !training ? fuse_for_quantization(compiled) : compiled;
}

}  // namespace mxnet
