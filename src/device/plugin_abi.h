// SPDX-License-Identifier: Apache-2.0
// What libmxnet.so and libmxnet_cuda.so agree on. The plug-in exports one C function, kPluginEntry,
// that returns a table. It links against libmxnet.so for the few names marked MX_PLUGIN_API:
// because Error and DeviceApi exist once, in libmxnet.so, the plug-in's exceptions are caught and
// its virtual calls land like any others.
#pragma once
#include <cstdint>

#include "device/device_api.h"

namespace mxnet {

// Raise it with every change of this header, device_api.h, device.h, error.h or inline_function.h
// that moves a field or a virtual function: both libraries must come from the same tree, and this
// number is how they find out.
inline constexpr uint32_t kPluginAbiVersion = 2;
inline constexpr const char* kPluginEntry = "mxnet_plugin_table";

// Puts y[i] = f(x[i]), 0 <= i < n, on `stream`. Throws Error if the launch fails.
using UnaryLauncher = void (*)(NativeStream* stream, const void* x, void* y, int64_t n);

// Every version of it starts with abi_version; nothing behind is read before that has been
// compared.
struct PluginTable {
  uint32_t abi_version;
  const char* description;  // what it was built with, for messages
  // Throws Error when there is no driver or no device. Called once; the api is never destroyed.
  DeviceApi* (*create)();
  // The launcher of the elementwise function `name` for element type `dtype` (a number of the C
  // ABI: 0 = float32), or null where the plug-in has none. Independent of any operator registry.
  UnaryLauncher (*find_unary)(const char* name, int32_t dtype) noexcept;
};

using PluginEntry = const PluginTable* (*)();

}  // namespace mxnet
