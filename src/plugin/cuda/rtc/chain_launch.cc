// SPDX-License-Identifier: Apache-2.0
// From arrays to a launch. Code is loaded once a process: a library of the runtime serves all
// devices of one architecture.
#include "plugin/cuda/rtc/chain_launch.h"

#include <cstdint>

#include "base/error.h"
#include "device/rehearsal.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/launch.h"

namespace mxnet::cuda {
namespace {

// The kernel of what is compiled; loads it at the first call. Throws Error where the driver does
// not take it: it may be older than the toolkit that has compiled it.
cudaKernel_t loaded(const ChainKernel& kernel) {
  MutexLock lock(kernel.loading);
  if (kernel.function == nullptr) {
    cudaLibrary_t library = nullptr;  // stays loaded: kernels live as long as the process
    MX_CUDA_CALL(cudaLibraryLoadData(&library, kernel.code.image.data(), nullptr, nullptr, 0,
                                     nullptr, nullptr, 0));
    cudaKernel_t function = nullptr;
    MX_CUDA_CALL(cudaLibraryGetKernel(&function, library, ChainSource::kKernel));
    kernel.function = function;
  }
  return static_cast<cudaKernel_t>(kernel.function);
}

// Here because the core shows plug-ins only what they cannot do themselves.
int64_t elements(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape.dims()) count *= dim;
  return count;
}

// One element that meets all of the others'.
bool is_single(const PointwiseChain& chain, const Tensor& input) {
  return elements(chain.shape) != 1 && elements(input.shape()) == 1;
}

bool is_aligned(const void* data, std::size_t bytes) {
  return reinterpret_cast<uintptr_t>(data) % bytes == 0;
}

}  // namespace

std::vector<ChainInput> chain_inputs(const PointwiseChain& chain, const KernelContext& context) {
  std::vector<ChainInput> inputs;
  inputs.reserve(static_cast<std::size_t>(context.num_in()));
  for (int i = 0; i < context.num_in(); ++i)
    inputs.push_back({context.in(i).dtype, is_single(chain, context.in(i))});
  return inputs;
}

bool launch_chain(ChainKernels& kernels, const PointwiseChain& chain, const KernelContext& context,
                  int gpu) {
  // A chain's inputs are of the same types and sizes in every call. Making its source takes longer
  // than launching it, so what was found stays with the chain.
  const auto* kernel = static_cast<const ChainKernel*>(chain.compiled.get());
  if (kernel == nullptr || kernel->gpu != gpu) {
    kernel = kernels.find(chain, chain_inputs(chain, context), gpu);
    chain.compiled.set(kernel);
  }
  if (kernel == nullptr) return false;
  // Acquire: the code that the compiling thread has published is seen.
  const ChainKernel::State state = kernel->state.load(std::memory_order_acquire);
  if (state == ChainKernel::State::kCompiling) {
    kernels.go_on();
    Rehearsal::again();
  }
  if (state != ChainKernel::State::kReady) return false;
  const int vector = kernel->source.vector;
  const int64_t size = elements(chain.shape);
  ChainArguments arguments{size, size / vector, {}};
  std::size_t count = 0;
  const auto add = [&](const Tensor& tensor, bool single) {
    const std::size_t group = static_cast<std::size_t>(vector) * dtype_size(tensor.dtype);
    if (!single && !is_aligned(tensor.data, group)) arguments.groups = 0;
    arguments.arrays[count++] = tensor.data;
  };
  for (int i = 0; i < context.num_in(); ++i) add(context.in(i), is_single(chain, context.in(i)));
  for (int o = 0; o < context.num_out(); ++o) add(context.out(o), false);
  const LaunchScope scope(context.stream()->native());
  cudaKernel_t function = nullptr;
  try {
    function = loaded(*kernel);
  } catch (const Error& error) {
    kernels.give_up(*kernel, error);
    return false;
  }
  const int64_t items = arguments.groups > 0 ? arguments.groups : arguments.size;
  void* pointers[] = {&arguments};
  MX_CUDA_CALL(cudaLaunchKernel(reinterpret_cast<const void*>(function),
                                dim3(scope.blocks(items, ChainSource::kThreads)),
                                dim3(ChainSource::kThreads), pointers, 0, scope.stream()));
  return true;
}

}  // namespace mxnet::cuda
