// SPDX-License-Identifier: Apache-2.0
// Graphs and loaded kernels of the faked runtime. Graphs hold nothing but the number of their
// nodes, which a test sets, and which capture they are; a launch of a kernel is remembered and does
// nothing.
#include <atomic>
#include <fstream>

#include "fake_cudart.h"

using namespace mxnet::testing::fake_cuda;

struct CUgraph_st {
  std::size_t nodes;
  int capture;
};
struct CUgraphExec_st {
  std::size_t nodes;
  int capture;
};

namespace {

std::atomic<bool> g_capturing{false};
std::atomic<std::size_t> g_nodes{1};
GraphCounts g_counts;
KernelLaunch g_launch;

}  // namespace

namespace mxnet::testing::fake_cuda {

void set_captured_nodes(std::size_t nodes) { g_nodes = nodes; }
GraphCounts& graph_counts() { return g_counts; }
KernelLaunch& last_launch() { return g_launch; }

}  // namespace mxnet::testing::fake_cuda

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode mode) {
  if (mode != cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
  return g_capturing.exchange(true) ? cudaErrorIllegalState : cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  if (!g_capturing.exchange(false)) return cudaErrorIllegalState;
  *graph = new CUgraph_st{g_nodes, ++g_counts.captures};
  ++g_counts.graphs;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  --g_counts.graphs;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  *exec = new CUgraphExec_st{graph->nodes, graph->capture};
  ++g_counts.execs;
  ++g_counts.instantiations;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  --g_counts.execs;
  return cudaSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  *info = {};
  if (exec->nodes != graph->nodes) return cudaErrorGraphExecUpdateFailure;
  exec->capture = graph->capture;
  ++g_counts.updates;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t) {
  g_counts.launched = exec->capture;
  ++g_counts.launches;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* count) {
  if (graph->nodes == 0) return cudaErrorInvalidValue;  // the fake's own: a graph to fail with
  *count = graph->nodes;
  return cudaSuccess;
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags) {
  std::ofstream(path) << graph->nodes << " nodes, flags " << flags;
  return cudaSuccess;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  if (const cudaError_t planned = answer("cudaLibraryLoadData"); planned != cudaSuccess)
    return planned;
  *library = reinterpret_cast<cudaLibrary_t>(const_cast<void*>(code));
  ++g_counts.libraries;
  return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  *kernel = reinterpret_cast<cudaKernel_t>(library);
  g_launch.name = name;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
    g_launch.shared_limit = static_cast<std::size_t>(value);
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void*, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t) {
  g_launch.shared_bytes = shared_bytes;
  if (shared_bytes > g_launch.shared_limit) return cudaErrorInvalidValue;
  g_launch.blocks = grid.x;
  g_launch.threads = block.x;
  if (g_launch.read) g_launch.read(arguments);
  ++g_launch.count;
  return cudaSuccess;
}

}  // extern "C"
