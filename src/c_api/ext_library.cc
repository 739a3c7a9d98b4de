// SPDX-License-Identifier: Apache-2.0
// Loading of extension libraries: what mxnet/lib_api.h compiles into.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/leaked.h"
#include "base/lock.h"
#include "base/log.h"
#include "c_api/ext_operator.h"
#include "c_api/ext_passes.h"
#include "c_api/guard.h"
#include "graph/load.h"
#include "graph/subgraph_op.h"
#include "mxnet/c_api.h"
#include "op/late_ops.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

// Libraries that are in use: they stay until the process ends. Held while one is being loaded, so
// that a library is opened once.
struct Loaded {
  Mutex mutex;
  std::set<void*> libraries MX_GUARDED_BY(mutex);
};

Loaded& loaded() {
  static Leaked<Loaded> loaded;
  return *loaded;
}

int read_graph(const char* json, void (*take)(void*, const MXExtGraph*), void* context,
               MXExtMessage* message) {
  return answer_extension(message,
                          [&] { take(context, &ExtGraphView(load_symbol(json).graph()).get()); });
}

int write_graph(const MXExtGraph* graph, void (*take)(void*, const char*), void* context,
                MXExtMessage* message) {
  return answer_extension(
      message, [&] { take(context, save_symbol(symbol_of_ext(*graph, "extension")).c_str()); });
}

const MXExtHost kHost{10901, read_graph, write_graph};

void check_version(void* library, const std::string& path) {
  const auto version = reinterpret_cast<MXExtVersionFunc>(::dlsym(library, "MXExtensionVersion"));
  if (version == nullptr) {
    const bool older = ::dlsym(library, "_opRegSize") != nullptr;
    throw Error(ErrorCode::kValue, "MXLoadLib",
                fmt::format("given '{}', {}expected one compiled against this version's "
                            "mxnet/lib_api.h: it has no MXExtensionVersion",
                            path, older ? "an extension of the 1.x release, " : ""));
  }
  if (const int given = version(); given != MX_EXT_VERSION) {
    throw Error(ErrorCode::kValue, "MXLoadLib",
                fmt::format("given '{}' of extension interface {}, expected {}: compile it against "
                            "this version's mxnet/lib_api.h",
                            path, given, MX_EXT_VERSION));
  }
}

const MXExtLibrary& open(void* library, const std::string& path) {
  check_version(library, path);
  const auto open = reinterpret_cast<MXExtOpenFunc>(::dlsym(library, "MXExtensionOpen"));
  if (open == nullptr) {
    throw Error(ErrorCode::kValue, "MXLoadLib",
                fmt::format("given '{}', expected a library with MXExtensionOpen", path));
  }
  const MXExtLibrary* content = nullptr;
  call_extension(fmt::format("MXLoadLib('{}')", path),
                 [&](MXExtMessage* message) { return open(&kHost, &content, message); });
  if (content == nullptr)
    throw Error(ErrorCode::kValue, "MXLoadLib", fmt::format("'{}' has no table", path));
  return *content;
}

// How operators run that the registry alone does not describe.
void add_bodies(const MXExtOp& op) {
  if ((op.flags & kMXExtState) != 0) add_array_op(op.name, {run_ext_state, /*has_state=*/true});
  if ((op.flags & kMXExtSubgraph) != 0)
    add_subgraph_op(op.name, {bind_ext_part, ext_part_output_names});
}

template <class Item>
std::string names(std::span<const Item> items) {
  std::string names;
  for (const Item& item : items) names += (names.empty() ? " " : ", ") + std::string(item.name);
  return names;
}

void add(const MXExtLibrary& content, const std::string& path, bool verbose) {
  const std::span ops(content.ops, static_cast<std::size_t>(content.num_ops));
  const std::span passes(content.passes, static_cast<std::size_t>(content.num_passes));
  const std::span partitioners(content.partitioners,
                               static_cast<std::size_t>(content.num_partitioners));
  std::vector<std::unique_ptr<OpDef>> made;
  for (const MXExtOp& op : ops) {
    for (std::unique_ptr<OpDef>& one : make_ext_ops(op)) {
      // All names before the first change: a library that is refused leaves nothing behind.
      const bool twice = std::any_of(made.begin(), made.end(), [&](const auto& other) {
        return other->name() == one->name();
      });
      if (twice || Registry::get().find(one->name()) != nullptr) {
        throw Error(ErrorCode::kValue, "MXLoadLib",
                    fmt::format("given operator '{}' in '{}', expected a name that is free",
                                one->name(), path));
      }
      made.push_back(std::move(one));
    }
  }
  add_ext_passes(passes, partitioners);
  for (const MXExtOp& op : ops) add_bodies(op);
  add_late_ops(std::move(made));
  if (verbose) {
    log(LogLevel::kInfo, fmt::format("{}: {} operators{}; {} passes{}; {} partitioners{}", path,
                                     ops.size(), names(ops), passes.size(), names(passes),
                                     partitioners.size(), names(partitioners)));
  }
}

}  // namespace

int MXLoadLib(const char* path, unsigned verbose) {
  return guarded([&] {
    require(path, "MXLoadLib", "path");
    const MutexLock lock(loaded().mutex);
    void* library = ::dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      throw Error(ErrorCode::kValue, "MXLoadLib",
                  fmt::format("given '{}', expected a shared library: {}", path, ::dlerror()));
    }
    if (loaded().libraries.count(library) > 0) {  // as before
      ::dlclose(library);
      return;
    }
    try {
      add(open(library, path), path, verbose != 0);
    } catch (...) {
      ::dlclose(library);
      throw;
    }
    loaded().libraries.insert(library);
  });
}
