// SPDX-License-Identifier: Apache-2.0
// dlopen, dlsym and the version, each failure in words that a user can act on.
#include "device/plugin_loader.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "plugin_tree.h"

namespace mxnet {
namespace {

constexpr const char* kTag = "plug-in";

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorCode::kGeneric, kTag, message);
}

struct Closer {
  void operator()(void* library) const { dlclose(library); }
};

}  // namespace

std::string path_beside_this_library(const std::string& name) {
  Dl_info info;
  static const char kHere = 0;
  if (dladdr(&kHere, &info) == 0 || info.dli_fname == nullptr) return name;
  const std::string self = info.dli_fname;
  const std::size_t slash = self.rfind('/');
  return slash == std::string::npos ? "./" + name : self.substr(0, slash + 1) + name;
}

const PluginTable& load_plugin(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) {
    fail(
        fmt::format("given a GPU context, but {} does not exist: install the GPU build of mxnet, "
                    "or build it with a "
                    "CUDA toolkit present (-DMXNET_BUILD_CUDA=ON)",
                    path));
  }
  // Local: its names serve nobody else. Now: a missing name is an error here, not a crash at its
  // first use.
  std::unique_ptr<void, Closer> library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr) fail(fmt::format("cannot load {}: {}", path, dlerror()));

  const auto entry = reinterpret_cast<PluginEntry>(dlsym(library.get(), kPluginEntry));
  if (entry == nullptr) {
    fail(fmt::format("{} is not a plug-in of mxnet: it does not export {}", path, kPluginEntry));
  }
  const PluginTable* table = entry();
  if (table == nullptr) fail(fmt::format("{} returned no table", path));
  if (table->abi_version != kPluginAbiVersion) {
    fail(
        fmt::format("{} has plug-in interface {}, this libmxnet.so expects {}: install both from "
                    "the same build",
                    path, table->abi_version, kPluginAbiVersion));
  }
  if (table->tree != kPluginTree) {
    fail(fmt::format(
        "{} was built from headers {:016x}, this libmxnet.so from {:016x}: install both "
        "from the same build",
        path, table->tree, kPluginTree));
  }
  static_cast<void>(library.release());  // stays loaded: its code runs until the process ends
  return *table;
}

}  // namespace mxnet
