// SPDX-License-Identifier: Apache-2.0
// A CUDA runtime that runs everything at once in host memory, on two devices of 16 MiB, and is as
// strict as the real one about handles and the current device. The plug-in's host code links to it
// instead, so that its calls, its guards and its errors are tested without a GPU.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace mxnet::testing::fake_cuda {

inline constexpr int kDevices = 2;
#ifndef MX_FAKE_CAPACITY
#define MX_FAKE_CAPACITY (16 << 20)
#endif
inline constexpr std::size_t kCapacity = MX_FAKE_CAPACITY;

// The next call of `function` ("cudaMalloc") returns `error`, and so may every later one.
void fail(const std::string& function, cudaError_t error, bool always = false);
// For the functions themselves: that planned failure, else `result`. Errors become the last error.
cudaError_t answer(const char* function, cudaError_t result = cudaSuccess);
// Forgets all failures and the last error.
void reset();
void set_driver_version(int version);  // 0 = no driver
void set_device_count(int count);
void set_link(bool on);
// That each of four processors holds at once: 4 as it is until set. Of streams that are made then.
void set_threads(int threads);
// 0 = the fastest, as it is until set.
void set_link_rank(int device, int peer, int rank);

void* graph_function(const std::string& name);  // of the driver, about nodes; else null
cudaError_t last_error();                       // without clearing it
int live_handles();                             // streams, events and blocks of memory
std::set<int> contexts();  // devices that somebody has made a context on, by using them
void forget_contexts();
int peer_copies();
bool reaches(int device, int peer);  // whether peer access is enabled

// Of fake_cudart_graphs.cc. Not thread-safe.
struct GraphCounts {
  int graphs = 0, execs = 0;  // alive
  int captures = 0, instantiations = 0, updates = 0, launches = 0, libraries = 0, kernels_set = 0;
  int launched = 0;  // number of the capture whose work was launched last
};
GraphCounts& graph_counts();
void set_captured_nodes(std::size_t nodes);  // of graphs from now on; nothing is known of them
// What a node was given. Kernels of one number have parameters of these sizes.
struct FakeNode {
  cudaGraphNodeType type = cudaGraphNodeTypeKernel;
  int kernel = 0;
  std::vector<std::vector<unsigned char>> parameters;  // of a fill or a copy: its addresses
  std::size_t bytes = 0;
};
void set_captured_nodes(std::vector<FakeNode> nodes);
const std::vector<FakeNode>& launched_nodes();  // of the last launch
struct KernelLaunch {
  int count = 0;
  std::string name;
  unsigned blocks = 0, threads = 0;
  std::size_t shared_bytes = 0, shared_limit = std::size_t{48} << 10;
  std::function<void(void** arguments)> read;  // called with each launch's
};
KernelLaunch& last_launch();

}  // namespace mxnet::testing::fake_cuda
