// SPDX-License-Identifier: Apache-2.0
// Kernels that a program brings as source, compiled and launched by the CUDA plug-in.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/export.h"
#include "device/device_api.h"

namespace mxnet {

struct GpuSource {
  std::string text;
  std::vector<std::string> options;  // of the compiler
  std::vector<std::string> exports;  // names of templates and of functions that are not extern "C"
};

struct GpuGrid {
  uint32_t blocks[3], threads[3];
  uint32_t shared_bytes;
};

// Compiled source. Thread-safe. Every call throws Error where it fails.
class MX_PLUGIN_API GpuModule {
 public:
  virtual ~GpuModule();
  // On the device of `stream`, for whose architecture the source is compiled at the first launch.
  // `arguments` point to the kernel's arguments, as cudaLaunchKernel takes them.
  virtual void launch(NativeStream* stream, const std::string& kernel, const GpuGrid& grid,
                      void** arguments) = 0;
};

}  // namespace mxnet
