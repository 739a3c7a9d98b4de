// SPDX-License-Identifier: Apache-2.0
// Kernels that programs bring as source (mx.rtc.CudaModule), by NVRTC.
#pragma once
#include <functional>
#include <map>

#include "base/lock.h"
#include "device/gpu_module.h"
#include "plugin/cuda/rtc/compiler.h"

namespace mxnet::cuda {

// Code for each architecture that the kernels have been launched on; loaded code stays loaded.
class Module final : public GpuModule {
 public:
  using Compile = std::function<CompiledCode(const CompileRequest&)>;

  // Compiles for the first device. `architectures`: those that the compiler knows, ascending.
  Module(GpuSource source, Compile compile, std::vector<int> architectures);

  void launch(NativeStream* stream, const std::string& kernel, const GpuGrid& grid,
              void** arguments) override;

 private:
  struct Kernel {
    void* function;
    std::size_t shared_bytes = 0;  // the most that a launch has asked for
  };
  struct Loaded {
    CompiledCode code;
    void* library = nullptr;
    std::map<std::string, Kernel> kernels;
  };
  Loaded& for_architecture(int gpu) MX_REQUIRES(mutex_);
  Kernel& find(Loaded& loaded, const std::string& kernel) MX_REQUIRES(mutex_);

  const GpuSource source_;
  const Compile compile_;
  const std::vector<int> architectures_;
  Mutex mutex_;
  std::map<int, Loaded> loaded_ MX_GUARDED_BY(mutex_);
};

// The plug-in's: through the disk cache.
GpuModule* compile_module(const GpuSource& source);

}  // namespace mxnet::cuda
