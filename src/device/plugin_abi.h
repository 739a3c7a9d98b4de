// SPDX-License-Identifier: Apache-2.0
// What libmxnet.so and libmxnet_cuda.so agree on. The plug-in exports one C function, kPluginEntry,
// that returns a table. It links against libmxnet.so for the few names marked MX_PLUGIN_API:
// because Error and DeviceApi exist once, in libmxnet.so, the plug-in's exceptions are caught and
// its virtual calls land like any others.
#pragma once
#include <cstdint>

#include "device/device_api.h"

namespace mxnet {

// Of PluginTable itself: raise it with every change of its fields.
inline constexpr uint32_t kPluginAbiVersion = 6;
inline constexpr const char* kPluginEntry = "mxnet_plugin_table";

struct GpuTable;  // op/run/gpu_table.h: kernels of operators
struct GpuSource;
class GpuModule;  // gpu_module.h: kernels of programs

// Every version of it starts with abi_version; nothing behind is read before that has been
// compared.
struct PluginTable {
  uint32_t abi_version;
  // kPluginTree of plugin_tree.h, which the build writes. What both libraries share beside this
  // table (virtual functions, tables of kernels, parameters of operators) has no number that
  // somebody could forget to raise: both must come from the same headers.
  uint64_t tree;
  const char* description;  // what it was built with, for messages
  // Throws Error when there is no driver or no device. Called once; the api is never destroyed.
  DeviceApi* (*create)();
  // Lives as long as the process; null in a plug-in that only moves memory.
  const GpuTable* kernels;
  // Compiles for the first device; throws Error with the compiler's messages. Owned by the caller.
  // Null in a plug-in without a compiler.
  GpuModule* (*compile)(const GpuSource& source);
};

using PluginEntry = const PluginTable* (*)();

}  // namespace mxnet
