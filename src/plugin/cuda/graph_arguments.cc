// SPDX-License-Identifier: Apache-2.0
// Kernels are asked of the driver: the runtime knows those of its own alone, and refuses nodes of
// cuBLASLt's, cuDNN's and NVRTC's. Which bytes of a kernel's parameters are addresses the driver
// does not say; whoever compares two recordings finds out (exec/array_moves.h).
#include "plugin/cuda/graph_arguments.h"

#include <cuda.h>

#include <cstring>
#include <vector>

#include "plugin/cuda/check.h"

namespace mxnet::cuda {
namespace {

bool ok(cudaError_t result) {
  if (result != cudaSuccess) cudaGetLastError();  // an answer, not an error
  return result == cudaSuccess;
}

// The driver's functions; null where it is older than they are. Thread-safe.
struct Driver {
  decltype(&cuGraphKernelNodeGetParams) get = nullptr;
  decltype(&cuGraphKernelNodeSetParams) set = nullptr;
  decltype(&cuFuncGetParamInfo) of_function = nullptr;
  decltype(&cuKernelGetParamInfo) of_kernel = nullptr;

  Driver() {
    find("cuGraphKernelNodeGetParams", &get);
    find("cuGraphKernelNodeSetParams", &set);
    find("cuFuncGetParamInfo", &of_function);
    find("cuKernelGetParamInfo", &of_kernel);
  }
  bool complete() const { return get && set && of_function && of_kernel; }
  // CUDA_ERROR_INVALID_VALUE: the kernel has no parameter of that number.
  CUresult size_of(const CUDA_KERNEL_NODE_PARAMS& node, std::size_t parameter,
                   std::size_t* bytes) const {
    std::size_t offset = 0;
    return node.func != nullptr ? of_function(node.func, parameter, &offset, bytes)
                                : of_kernel(node.kern, parameter, &offset, bytes);
  }

 private:
  template <class F>
  static void find(const char* name, F* function) {
    constexpr unsigned kVersion = 12040;  // of CUDA, in which they look like this
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (ok(cudaGetDriverEntryPointByVersion(name, &address, kVersion, cudaEnableDefault, &found)))
      *function = reinterpret_cast<F>(address);
  }
};

const Driver& driver() {
  static const Driver one;
  return one;
}

// Goes through the nodes, and what it does with a word that may be an address is W's:
// bool word(void* at, bytes) is told where it lies, and says whether it was changed.
template <class W>
class Walk {
 public:
  Walk(GraphArguments* seen, W& word) : seen_(*seen), word_(word) {}

  bool graph(cudaGraph_t graph) {
    std::size_t count = 0;
    MX_CUDA_CALL(cudaGraphGetNodes(graph, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    MX_CUDA_CALL(cudaGraphGetNodes(graph, nodes.data(), &count));
    for (cudaGraphNode_t each : nodes)
      if (!node(each)) return false;
    return true;
  }

 private:
  bool node(cudaGraphNode_t node) {
    cudaGraphNodeType type{};
    MX_CUDA_CALL(cudaGraphNodeGetType(node, &type));
    mix(type);
    if (type == cudaGraphNodeTypeKernel) return kernel(node);
    if (type == cudaGraphNodeTypeMemcpy) return copy(node);
    if (type == cudaGraphNodeTypeMemset) return fill(node);
    return type == cudaGraphNodeTypeEmpty;
  }
  bool kernel(cudaGraphNode_t node) {
    CUDA_KERNEL_NODE_PARAMS it{};
    if (driver().get(node, &it) != CUDA_SUCCESS || it.extra != nullptr) return false;
    mix(reinterpret_cast<uintptr_t>(it.func));
    mix(reinterpret_cast<uintptr_t>(it.kern));
    for (const unsigned number : {it.gridDimX, it.gridDimY, it.gridDimZ, it.blockDimX, it.blockDimY,
                                  it.blockDimZ, it.sharedMemBytes})
      mix(number);
    // Copies: what the driver gives are its own.
    std::vector<std::vector<uint64_t>> parameters;
    std::vector<void*> places;
    bool changed = false;
    for (;;) {
      std::size_t bytes = 0;
      const CUresult result = driver().size_of(it, places.size(), &bytes);
      if (result == CUDA_ERROR_INVALID_VALUE) break;  // those were all
      if (result != CUDA_SUCCESS || it.kernelParams == nullptr) return false;
      mix(bytes);
      std::vector<uint64_t>& words =
          parameters.emplace_back((bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
      std::memcpy(words.data(), it.kernelParams[places.size()], bytes);
      for (uint64_t& word : words) changed |= word_(&word);
      places.push_back(words.data());
    }
    if (!changed) return true;
    it.kernelParams = places.data();
    return driver().set(node, &it) == CUDA_SUCCESS;
  }
  bool copy(cudaGraphNode_t node) {
    cudaMemcpy3DParms it{};
    if (!ok(cudaGraphMemcpyNodeGetParams(node, &it)) || it.srcArray != nullptr ||
        it.dstArray != nullptr || !on_device(it.srcPtr.ptr) || !on_device(it.dstPtr.ptr))
      return false;
    for (const std::size_t number :
         {it.srcPos.x, it.srcPos.y, it.srcPos.z, it.dstPos.x, it.dstPos.y, it.dstPos.z,
          it.extent.width, it.extent.height, it.extent.depth})
      mix(number);
    const bool to = word_(&it.dstPtr.ptr), from = word_(&it.srcPtr.ptr);
    return (!to && !from) || ok(cudaGraphMemcpyNodeSetParams(node, &it));
  }
  bool fill(cudaGraphNode_t node) {
    cudaMemsetParams it{};
    if (!ok(cudaGraphMemsetNodeGetParams(node, &it))) return false;
    for (const std::size_t number :
         {std::size_t{it.elementSize}, it.height, it.pitch, std::size_t{it.value}, it.width})
      mix(number);
    return !word_(&it.dst) || ok(cudaGraphMemsetNodeSetParams(node, &it));
  }
  // The host's memory may hold something else when the graph runs than when it was recorded.
  static bool on_device(const void* data) {
    cudaPointerAttributes attributes{};
    return ok(cudaPointerGetAttributes(&attributes, data)) &&
           attributes.type == cudaMemoryTypeDevice;
  }
  void mix(uint64_t value) {
    constexpr uint64_t kPrime = 1099511628211;  // of FNV
    seen_.calls = (seen_.calls ^ value) * kPrime;
  }

  GraphArguments& seen_;
  W& word_;
};

}  // namespace

bool read_arguments(cudaGraph_t graph, GraphArguments* arguments) {
  *arguments = {};
  if (!driver().complete()) return false;
  auto keep = [&](void* word) {
    uint64_t value = 0;
    std::memcpy(&value, word, sizeof value);
    arguments->words.push_back(value);
    return false;
  };
  return Walk(arguments, keep).graph(graph);
}

bool write_arguments(cudaGraph_t graph, const GraphArguments& arguments) {
  GraphArguments mine;
  if (!read_arguments(graph, &mine) || mine.calls != arguments.calls ||
      mine.words.size() != arguments.words.size())
    return false;
  std::size_t next = 0;
  auto replace = [&](void* word) {
    const std::size_t at = next++;
    std::memcpy(word, &arguments.words[at], sizeof(uint64_t));
    return arguments.words[at] != mine.words[at];
  };
  return Walk(&mine, replace).graph(graph);
}

}  // namespace mxnet::cuda
