// SPDX-License-Identifier: Apache-2.0
// The one name that libmxnet_cuda.so exports.
#include <cuda_runtime_api.h>

#include <memory>

#include "base/config.h"
#include "device/plugin_abi.h"
#include "plugin/cuda/cuda_device_api.h"
#include "plugin/cuda/kernels.h"
#include "plugin/cuda/rtc/chain_kernels.h"
#include "plugin/cuda/rtc/module.h"
#include "plugin/cuda/toolkit/library_versions.h"
#include "plugin_tree.h"

namespace {

void warn_about_versions() {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) return;
  mxnet::cuda::check_cuda_version(mxnet::config().cuda,
                                  {CUDART_VERSION / 1000, CUDART_VERSION / 10 % 100},
                                  {driver / 1000, driver / 10 % 100});
}

}  // namespace

#define MX_TEXT_OF(x) #x
#define MX_TEXT(x) MX_TEXT_OF(x)

extern "C" MX_PLUGIN_API const mxnet::PluginTable* mxnet_plugin_table() {
  static const mxnet::PluginTable table = {
      .abi_version = mxnet::kPluginAbiVersion,
      .tree = mxnet::kPluginTree,
      .description = "CUDA runtime " MX_TEXT(CUDART_VERSION),
      .create =
          [] {
            std::unique_ptr<mxnet::cuda::CudaDeviceApi> api = mxnet::cuda::CudaDeviceApi::create();
            warn_about_versions();
            mxnet::cuda::ChainKernels::watch_this_thread();  // often the main one
            return static_cast<mxnet::DeviceApi*>(api.release());
          },
      .kernels = &mxnet::cuda::kernels(),
      .compile = mxnet::cuda::compile_module,
  };
  return &table;
}
