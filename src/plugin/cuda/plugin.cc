// SPDX-License-Identifier: Apache-2.0
// The one name that libmxnet_cuda.so exports.
#include <cuda_runtime_api.h>

#include "device/plugin_abi.h"
#include "plugin/cuda/cuda_device_api.h"
#include "plugin/cuda/kernels.h"

#define MX_TEXT_OF(x) #x
#define MX_TEXT(x) MX_TEXT_OF(x)

extern "C" MX_PLUGIN_API const mxnet::PluginTable* mxnet_plugin_table() {
  static const mxnet::PluginTable table = {
      .abi_version = mxnet::kPluginAbiVersion,
      .description = "CUDA runtime " MX_TEXT(CUDART_VERSION),
      .create =
          [] {
            return static_cast<mxnet::DeviceApi*>(mxnet::cuda::CudaDeviceApi::create().release());
          },
      .kernels = &mxnet::cuda::kernels(),
  };
  return &table;
}
