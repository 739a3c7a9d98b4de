// SPDX-License-Identifier: Apache-2.0
// CUDA graphs behind GraphCapture.
#include <memory>

#include "base/error.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/cuda_device_api.h"
#include "plugin/cuda/device_guard.h"
#include "plugin/cuda/graph_arguments.h"
#include "plugin/cuda/handles.h"

namespace mxnet::cuda {
namespace {

// What a NativeGraph of this api points to: the recorded calls, and once launched what the device
// runs.
struct CudaGraph {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CudaStream::Used used;  // by the calls of `graph`

  CudaGraph() = default;
  // Errors are ignored: at process exit the runtime may be gone before us.
  ~CudaGraph() {
    if (exec != nullptr) cudaGraphExecDestroy(exec);
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  static CudaGraph& from(NativeGraph* graph) { return *reinterpret_cast<CudaGraph*>(graph); }
};

}  // namespace

void CudaDeviceApi::begin_capture(int device, NativeStream* stream) {
  CudaStream& on = stream_of(device, stream);
  DeviceGuard guard(device);
  // Relaxed: pools may ask for memory meanwhile, on this thread and on others.
  MX_CUDA_CALL(cudaStreamBeginCapture(on.handle(), cudaStreamCaptureModeRelaxed));
  on.begin_recording();
}

NativeGraph* CudaDeviceApi::end_capture(int device, NativeStream* stream) {
  CudaStream& on = stream_of(device, stream);
  DeviceGuard guard(device);
  auto result = std::make_unique<CudaGraph>();
  result->used = on.end_recording();
  MX_CUDA_CALL(cudaStreamEndCapture(on.handle(), &result->graph));
  return reinterpret_cast<NativeGraph*>(result.release());
}

bool CudaDeviceApi::update_graph(int device, NativeGraph* graph, NativeGraph* newer) {
  check_device(device);
  CudaGraph& mine = CudaGraph::from(graph);
  CudaGraph& other = CudaGraph::from(newer);
  DeviceGuard guard(device);
  if (mine.exec != nullptr) {
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t result = cudaGraphExecUpdate(mine.exec, other.graph, &info);
    if (result == cudaErrorGraphExecUpdateFailure) {
      cudaGetLastError();  // an answer, not an error
      return false;
    }
    check(result, "cudaGraphExecUpdate");
  }
  std::swap(mine.graph, other.graph);
  mine.used.swap(other.used);
  return true;
}

bool CudaDeviceApi::graph_arguments(int device, NativeGraph* graph, GraphArguments* arguments) {
  check_device(device);
  DeviceGuard guard(device);
  return read_arguments(CudaGraph::from(graph).graph, arguments);
}

bool CudaDeviceApi::give_arguments(int device, NativeGraph* graph,
                                   const GraphArguments& arguments) {
  check_device(device);
  DeviceGuard guard(device);
  return write_arguments(CudaGraph::from(graph).graph, arguments);
}

void CudaDeviceApi::launch_graph(int device, NativeGraph* graph, NativeStream* stream) {
  const CudaStream& on = stream_of(device, stream);
  CudaGraph& mine = CudaGraph::from(graph);
  DeviceGuard guard(device);
  if (mine.exec == nullptr) MX_CUDA_CALL(cudaGraphInstantiate(&mine.exec, mine.graph, 0));
  MX_CUDA_CALL(cudaGraphLaunch(mine.exec, on.handle()));
}

void CudaDeviceApi::destroy_graph(int device, NativeGraph* graph) noexcept {
  const DeviceGuard guard(device, std::nothrow);
  delete &CudaGraph::from(graph);
}

std::size_t CudaDeviceApi::graph_nodes(int device, NativeGraph* graph) {
  check_device(device);
  std::size_t count = 0;
  MX_CUDA_CALL_ABOUT(device, cudaGraphGetNodes(CudaGraph::from(graph).graph, nullptr, &count));
  return count;
}

void CudaDeviceApi::print_graph(int device, NativeGraph* graph, const std::string& path,
                                unsigned flags) {
  check_device(device);
  DeviceGuard guard(device);
  MX_CUDA_CALL(cudaGraphDebugDotPrint(CudaGraph::from(graph).graph, path.c_str(), flags));
}

}  // namespace mxnet::cuda
