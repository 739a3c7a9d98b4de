// SPDX-License-Identifier: Apache-2.0
// From source to launches.
#include "plugin/cuda/rtc/module.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/handles.h"
#include "plugin/cuda/launch.h"
#include "plugin/cuda/rtc/chain_kernels.h"
#include "plugin/cuda/rtc/nvrtc.h"

namespace mxnet::cuda {
namespace {

// Shared memory that every kernel may have.
constexpr std::size_t kFreeSharedBytes = std::size_t{48} << 10;

// Of a device, as 90 for 9.0.
int compute_capability(int device) {
  int major = 0, minor = 0;
  MX_CUDA_CALL(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  MX_CUDA_CALL(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return 10 * major + minor;
}

}  // namespace

Module::Module(GpuSource source, Compile compile, std::vector<int> architectures)
    : source_(std::move(source)),
      compile_(std::move(compile)),
      architectures_(std::move(architectures)) {
  const int first = compute_capability(0);
  MutexLock lock(mutex_);
  for_architecture(first);
}

Module::Loaded& Module::for_architecture(int gpu) {
  if (const auto it = loaded_.find(gpu); it != loaded_.end()) return it->second;
  const CompileTarget target = compile_target(gpu, architectures_);
  CompiledCode code = compile_({.source = source_.text,
                                .name = "module.cu",
                                .architecture = target.architecture,
                                .options = source_.options,
                                .exports = source_.exports,
                                .ptx = target.ptx});
  return loaded_.emplace(gpu, Loaded{std::move(code), nullptr, {}}).first->second;
}

Module::Kernel& Module::find(Loaded& loaded, const std::string& kernel) {
  if (const auto it = loaded.kernels.find(kernel); it != loaded.kernels.end()) return it->second;
  if (loaded.library == nullptr) {
    cudaLibrary_t library = nullptr;
    MX_CUDA_CALL(cudaLibraryLoadData(&library, loaded.code.image.data(), nullptr, nullptr, 0,
                                     nullptr, nullptr, 0));
    loaded.library = library;
  }
  const auto lowered = loaded.code.lowered.find(kernel);
  const std::string& name = lowered == loaded.code.lowered.end() ? kernel : lowered->second;
  cudaKernel_t function = nullptr;
  if (cudaLibraryGetKernel(&function, static_cast<cudaLibrary_t>(loaded.library), name.c_str()) !=
      cudaSuccess) {
    cudaGetLastError();  // it is told here
    throw Error(ErrorCode::kValue, "rtc",
                fmt::format("given kernel '{}', expected one of the module: extern \"C\", or named "
                            "in its exports",
                            kernel));
  }
  return loaded.kernels.emplace(kernel, Kernel{function}).first->second;
}

void Module::launch(NativeStream* stream, const std::string& kernel, const GpuGrid& grid,
                    void** arguments) {
  const LaunchScope scope(stream);
  const int gpu = CudaStream::from(stream)->capability();
  void* function = nullptr;
  {
    MutexLock lock(mutex_);
    Kernel& found = find(for_architecture(gpu), kernel);
    function = found.function;
    found.shared_bytes = std::max<std::size_t>(found.shared_bytes, grid.shared_bytes);
    // More has to be asked for, on each device; never less than another thread is about to launch.
    if (grid.shared_bytes > kFreeSharedBytes)
      MX_CUDA_CALL(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(found.shared_bytes)));
  }
  MX_CUDA_CALL(cudaLaunchKernel(function, dim3(grid.blocks[0], grid.blocks[1], grid.blocks[2]),
                                dim3(grid.threads[0], grid.threads[1], grid.threads[2]), arguments,
                                grid.shared_bytes, scope.stream()));
}

GpuModule* compile_module(const GpuSource& source) {
  if (config().cuda.rtc_verbose) log(LogLevel::kInfo, fmt::format("rtc: module\n{}", source.text));
  return new Module(source, compile_cached, Nvrtc::get().architectures());
}

}  // namespace mxnet::cuda
