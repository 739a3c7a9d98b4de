// SPDX-License-Identifier: Apache-2.0
// GPU kernels from source, compiled and launched by the CUDA plug-in, and code that other compilers
// made, which is refused.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "c_api/guard.h"
#include "c_api/handle_pool.h"
#include "c_api/ndarray_handle.h"
#include "device/device_registry.h"
#include "device/gpu_module.h"
#include "engine/engine.h"
#include "engine/fences.h"
#include "mxnet/c_api.h"

using namespace mxnet;
using c_api::check_text_count;
using c_api::guarded;
using c_api::HandlePool;
using c_api::require;

namespace {

struct Argument {
  bool is_array, is_const;
  DType dtype;
};
struct Kernel {
  std::shared_ptr<GpuModule> module;
  std::string name;
  std::vector<Argument> arguments;
};

HandlePool<std::shared_ptr<GpuModule>>& modules() {
  static constinit HandlePool<std::shared_ptr<GpuModule>> pool("CudaModule");
  return pool;
}
HandlePool<std::shared_ptr<const Kernel>>& kernels() {
  static constinit HandlePool<std::shared_ptr<const Kernel>> pool("CudaKernel");
  return pool;
}

[[noreturn]] void old_interface(const char* function) {
  throw Error(ErrorCode::kNotImplemented, function,
              "given a call of the interface before CUDA modules, expected one of "
              "MXRtcCudaModuleCreate and what follows it");
}

const PluginTable& compiler(const char* function) {
  device_api(DeviceType::kGPU);  // throws where there is neither a GPU nor a simulated one
  const PluginTable* plugin = cuda_plugin();
  if (plugin == nullptr || plugin->compile == nullptr)
    throw Error(ErrorCode::kGeneric, function,
                "given the source of GPU kernels, expected none: there is no GPU that runs CUDA "
                "(MXNET_SIM_GPUS simulates memory and streams, not kernels)");
  return *plugin;
}

std::vector<std::string> texts(const char* function, int count, const char** given) {
  check_text_count(function, count);
  if (count == 0) return {};
  require(given, function, "list of texts");
  return {given, given + count};
}

// The arguments of one launch: arrays stay alive, numbers are copied.
struct Launch {
  std::shared_ptr<const Kernel> kernel;
  GpuGrid grid;
  std::vector<NDArray> arrays;                       // one an argument; none where it is a number
  std::vector<std::array<unsigned char, 8>> values;  // one an argument: its address, or the number

  void operator()(const RunContext& context) {
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (kernel->arguments[i].is_array) {
        void* const data = arrays[i].data();
        std::memcpy(values[i].data(), &data, sizeof(data));
      }
      pointers.push_back(values[i].data());
    }
    kernel->module->launch(context.stream->native(), kernel->name, grid, pointers.data());
    engine::complete_by_event();  // the launch has copied what `pointers` point to
  }
};

NDArray checked_array(const Kernel& kernel, std::size_t i, void* handle, Device device) {
  const NDArray& array = c_api::array_of(handle, "MXRtcCudaKernelCall");
  const DType dtype = kernel.arguments[i].dtype;
  if (array.device() != device || array.dtype() != dtype || array.is_sparse()) {
    throw Error(
        ErrorCode::kValue, kernel.name,
        fmt::format("given {}{} array on {} as argument {}, expected a dense {} array on {}",
                    array.is_sparse() ? "a sparse " : "", dtype_name(array.dtype()),
                    to_string(array.device()), i, dtype_name(dtype), to_string(device)));
  }
  return array;
}

}  // namespace

int MXRtcCreate(char* name, uint32_t, uint32_t, char**, char**, NDArrayHandle*, NDArrayHandle*,
                char* kernel, RtcHandle* out) {
  return guarded([&] {
    require(name, "MXRtcCreate", "name");
    require(kernel, "MXRtcCreate", "kernel");
    require(out, "MXRtcCreate", "out");
    old_interface("MXRtcCreate");
  });
}

int MXRtcPush(RtcHandle handle, uint32_t, uint32_t, NDArrayHandle*, NDArrayHandle*, uint32_t,
              uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) {
  return guarded([&] {
    require(handle, "MXRtcPush", "handle");
    old_interface("MXRtcPush");
  });
}

int MXRtcFree(RtcHandle handle) {
  return guarded([&] {
    require(handle, "MXRtcFree", "handle");
    old_interface("MXRtcFree");
  });
}

int MXRtcCudaModuleCreate(const char* source, int num_options, const char** options,
                          int num_exports, const char** exports, CudaModuleHandle* out) {
  return guarded([&] {
    constexpr const char* kName = "MXRtcCudaModuleCreate";
    require(source, kName, "source");
    require(out, kName, "out");
    const GpuSource text{source, texts(kName, num_options, options),
                         texts(kName, num_exports, exports)};
    *out = modules().create(std::shared_ptr<GpuModule>(compiler(kName).compile(text)));
  });
}

int MXRtcCudaModuleFree(CudaModuleHandle handle) {
  return guarded([&] { modules().destroy(handle, "MXRtcCudaModuleFree"); });
}

int MXRtcCudaKernelCreate(CudaModuleHandle handle, const char* name, int num_args, int* is_ndarray,
                          int* is_const, int* arg_types, CudaKernelHandle* out) {
  return guarded([&] {
    constexpr const char* kName = "MXRtcCudaKernelCreate";
    Kernel kernel{modules().get(handle, kName), "", {}};
    require(name, kName, "name");
    require(out, kName, "out");
    kernel.name = name;
    if (num_args > 0) {
      require(is_ndarray, kName, "is_ndarray");
      require(is_const, kName, "is_const");
      require(arg_types, kName, "arg_types");
    }
    for (int i = 0; i < num_args; ++i)
      kernel.arguments.push_back(
          {is_ndarray[i] != 0, is_const[i] != 0, c_api::checked_dtype(kName, arg_types[i])});
    *out = kernels().create(std::make_shared<const Kernel>(std::move(kernel)));
  });
}

int MXRtcCudaKernelFree(CudaKernelHandle handle) {
  return guarded([&] { kernels().destroy(handle, "MXRtcCudaKernelFree"); });
}

int MXRtcCudaKernelCall(CudaKernelHandle handle, int dev_id, void** args, uint32_t grid_dim_x,
                        uint32_t grid_dim_y, uint32_t grid_dim_z, uint32_t block_dim_x,
                        uint32_t block_dim_y, uint32_t block_dim_z, uint32_t shared_mem) {
  return guarded([&] {
    constexpr const char* kName = "MXRtcCudaKernelCall";
    Launch launch{
        kernels().get(handle, kName),
        {{grid_dim_x, grid_dim_y, grid_dim_z}, {block_dim_x, block_dim_y, block_dim_z}, shared_mem},
        {},
        {}};
    const Kernel& kernel = *launch.kernel;
    if (!kernel.arguments.empty()) require(args, kName, "args");
    const Device device = Device::gpu(dev_id);
    std::vector<Var*> reads, writes;
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
      const Argument& argument = kernel.arguments[i];
      launch.values.emplace_back();
      require(args[i], kName, "argument");
      if (argument.is_array) {
        launch.arrays.push_back(checked_array(kernel, i, args[i], device));
        (argument.is_const ? reads : writes).push_back(launch.arrays.back().var());
      } else {
        launch.arrays.emplace_back();
        std::memcpy(launch.values.back().data(), args[i], dtype_size(argument.dtype));
      }
    }
    dedup_variables(&reads, &writes);
    Engine::get().push(std::move(launch),
                       {.device = device, .reads = reads, .writes = writes, .name = "CudaKernel"});
  });
}

int MXTVMBridge(void* pregister) {
  return guarded([&] {
    require(pregister, "MXTVMBridge", "pregister");
    throw Error(ErrorCode::kNotImplemented, "MXTVMBridge",
                "given TVM's registry, expected none: kernels made by TVM are not supported");
  });
}
