// SPDX-License-Identifier: Apache-2.0
// Graphs and loaded kernels of the faked runtime. Graphs hold what a test says that was captured, a
// number of nodes or what each was given, and which capture they are; launches are remembered and
// do nothing.
#include <cuda.h>

#include <atomic>
#include <cstring>
#include <fstream>

#include "fake_cudart.h"

using namespace mxnet::testing::fake_cuda;

struct CUgraphNode_st {
  FakeNode node;
};
struct CUgraph_st {
  std::size_t nodes;
  int capture;
  std::vector<CUgraphNode_st> known;
};
struct CUgraphExec_st {
  std::size_t nodes;
  int capture;
  std::vector<FakeNode> known;
};

namespace {

std::atomic<bool> g_capturing{false};
std::atomic<std::size_t> g_nodes{1};
std::vector<FakeNode> g_known, g_launched;
CUgraphNode g_asked = nullptr;  // whose parameters were asked for last
GraphCounts g_counts;
KernelLaunch g_launch;

std::vector<FakeNode> known_of(cudaGraph_t graph) {
  std::vector<FakeNode> all;
  for (const CUgraphNode_st& each : graph->known) all.push_back(each.node);
  return all;
}

// Of the driver. A kernel's handle is its node, whose parameters have their sizes.
thread_local std::vector<void*> t_places;
CUresult get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* it) {
  *it = {};
  it->kern = reinterpret_cast<CUkernel>(static_cast<std::size_t>(node->node.kernel));
  it->gridDimX = 4;
  t_places.clear();
  for (auto& parameter : node->node.parameters) t_places.push_back(parameter.data());
  it->kernelParams = t_places.data();
  g_asked = node;
  return CUDA_SUCCESS;
}
CUresult set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* it) {
  for (std::size_t i = 0; i < node->node.parameters.size(); ++i)
    std::memcpy(node->node.parameters[i].data(), it->kernelParams[i],
                node->node.parameters[i].size());
  ++g_counts.kernels_set;
  return static_cast<CUresult>(answer("cuGraphKernelNodeSetParams"));
}
CUresult parameter_of_function(CUfunction, std::size_t, std::size_t*, std::size_t*) {
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult parameter_of_kernel(CUkernel, std::size_t index, std::size_t*, std::size_t* bytes) {
  if (index >= g_asked->node.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *bytes = g_asked->node.parameters[index].size();
  return static_cast<CUresult>(answer("cuKernelGetParamInfo"));
}

}  // namespace

namespace mxnet::testing::fake_cuda {

void* graph_function(const std::string& name) {
  if (name == "cuGraphKernelNodeGetParams") return reinterpret_cast<void*>(get_kernel);
  if (name == "cuGraphKernelNodeSetParams") return reinterpret_cast<void*>(set_kernel);
  if (name == "cuFuncGetParamInfo") return reinterpret_cast<void*>(parameter_of_function);
  if (name == "cuKernelGetParamInfo") return reinterpret_cast<void*>(parameter_of_kernel);
  return nullptr;
}

void set_captured_nodes(std::size_t nodes) {
  g_nodes = nodes;
  g_known.clear();
}
void set_captured_nodes(std::vector<FakeNode> nodes) {
  g_nodes = nodes.size();
  g_known = std::move(nodes);
}
const std::vector<FakeNode>& launched_nodes() { return g_launched; }
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
  *graph = new CUgraph_st{g_nodes, ++g_counts.captures, {}};
  for (const FakeNode& node : g_known) (*graph)->known.push_back({node});
  ++g_counts.graphs;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  --g_counts.graphs;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  *exec = new CUgraphExec_st{graph->nodes, graph->capture, known_of(graph)};
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
  exec->known = known_of(graph);
  ++g_counts.updates;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t) {
  g_counts.launched = exec->capture;
  g_launched = exec->known;
  ++g_counts.launches;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (graph->nodes == 0) return cudaErrorInvalidValue;  // the fake's own: a graph to fail with
  *count = graph->nodes;
  for (std::size_t i = 0; nodes != nullptr && i < graph->nodes; ++i)
    nodes[i] = graph->known.empty() ? nullptr : &graph->known[i];
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node == nullptr ? cudaGraphNodeTypeHost : node->node.type;
  return cudaSuccess;
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* it) {
  *it = {};
  std::memcpy(&it->dstPtr.ptr, node->node.parameters[0].data(), sizeof(void*));
  std::memcpy(&it->srcPtr.ptr, node->node.parameters[1].data(), sizeof(void*));
  it->extent = {node->node.bytes, 1, 1};
  return cudaSuccess;
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* it) {
  std::memcpy(node->node.parameters[0].data(), &it->dstPtr.ptr, sizeof(void*));
  std::memcpy(node->node.parameters[1].data(), &it->srcPtr.ptr, sizeof(void*));
  return answer("cudaGraphMemcpyNodeSetParams");
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* it) {
  *it = {};
  std::memcpy(&it->dst, node->node.parameters[0].data(), sizeof(void*));
  it->width = node->node.bytes;
  return cudaSuccess;
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* it) {
  std::memcpy(node->node.parameters[0].data(), &it->dst, sizeof(void*));
  return cudaSuccess;
}
// Addresses below the first page but one are a host's.
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  *attributes = {};
  attributes->type = reinterpret_cast<std::size_t>(data) < 4096 ? cudaMemoryTypeUnregistered
                                                                : cudaMemoryTypeDevice;
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
