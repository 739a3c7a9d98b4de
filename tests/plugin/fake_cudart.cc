// SPDX-License-Identifier: Apache-2.0
// The functions of the CUDA runtime that the plug-in calls, over host memory.
#include "fake_cudart.h"

#include <cuda.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "guarded_memory.h"

using namespace mxnet::testing;
using namespace mxnet::testing::fake_cuda;

// What the runtime's opaque handles point to here.
struct CUstream_st {
  int device;
};
struct CUevent_st {
  int device;
};

namespace {

struct Failure {
  cudaError_t error;
  bool always;
};

std::mutex g_mutex;
// Never destroyed: the core's last streams end behind this file's objects.
auto& g_failures = *new std::map<std::string, Failure>;
auto& g_blocks = *new std::map<void*, std::pair<int, std::size_t>>;  // device (-1 = host), bytes
auto& g_peers = *new std::set<std::pair<int, int>>;
std::map<std::pair<int, int>, int> g_link_ranks;
std::atomic<int> g_driver{13000}, g_count{kDevices}, g_threads{4}, g_live{0}, g_peer_copies{0};
std::atomic<int> g_waits{0};
std::atomic<bool> g_link{true};
thread_local int t_chosen = 0;  // by cudaSetDevice
// The driver's stack; the last one is current. Plain data: streams end behind a thread's objects.
thread_local int t_contexts[16];
thread_local int t_depth = 0;
auto& g_contexts = *new std::set<int>;  // devices that have one
thread_local cudaError_t t_last = cudaSuccess;

int current() { return t_depth == 0 ? t_chosen : t_contexts[t_depth - 1]; }
// What makes a context where there is none, as most functions do.
int used() {
  std::lock_guard lock(g_mutex);
  g_contexts.insert(current());
  return current();
}

cudaError_t allocate(const char* function, void** data, std::size_t bytes, int device) {
  const cudaError_t planned = answer(function);
  if (planned != cudaSuccess) return planned;
  constexpr std::size_t kAddresses = std::size_t{1} << 57;  // beyond, no size is a valid one
  if (bytes >= kAddresses) return answer(function, cudaErrorInvalidValue);
  std::size_t used = 0;
  {
    std::lock_guard lock(g_mutex);
    for (const auto& [block, info] : g_blocks) used += info.first == device ? info.second : 0;
  }
  if (bytes > kCapacity - used) return answer(function, cudaErrorMemoryAllocation);
  *data = allocate_guarded(bytes);
  if (*data == nullptr) return answer(function, cudaErrorMemoryAllocation);
  ++g_live;
  std::lock_guard lock(g_mutex);
  g_blocks[*data] = {device, bytes};
  return cudaSuccess;
}

cudaError_t release(void* data) {
  std::lock_guard lock(g_mutex);
  const auto block = g_blocks.find(data);
  if (block == g_blocks.end()) return t_last = cudaErrorInvalidValue;
  const std::size_t bytes = block->second.second;
  const bool intact = guards_hold(data, bytes);
  g_blocks.erase(block);
  free_guarded(data, bytes);
  --g_live;
  return intact ? cudaSuccess : t_last = cudaErrorIllegalAddress;
}

// Whether nobody has written beside any block.
cudaError_t look_at_memory() {
  std::lock_guard lock(g_mutex);
  for (const auto& [data, info] : g_blocks)
    if (!guards_hold(data, info.second)) return cudaErrorIllegalAddress;
  return cudaSuccess;
}

// Work on a stream is accepted only while its device is current.
cudaError_t on(cudaStream_t stream) {
  return stream != nullptr && stream->device == used() ? cudaSuccess
                                                       : cudaErrorInvalidResourceHandle;
}

}  // namespace

namespace mxnet::testing::fake_cuda {

void fail(const std::string& function, cudaError_t error, bool always) {
  std::lock_guard lock(g_mutex);
  g_failures[function] = {error, always};
}
cudaError_t answer(const char* function, cudaError_t result) {
  std::lock_guard lock(g_mutex);
  if (const auto planned = g_failures.find(function); planned != g_failures.end()) {
    result = planned->second.error;
    if (!planned->second.always) g_failures.erase(planned);
  }
  if (result != cudaSuccess) t_last = result;
  return result;
}

void reset() {
  std::lock_guard lock(g_mutex);
  g_failures.clear();
  g_peers.clear();
  g_link_ranks.clear();
  t_last = cudaSuccess;
  g_driver = 13000;
  g_count = kDevices;
  g_threads = 4;
  g_link = true;
}
void set_driver_version(int version) { g_driver = version; }
void set_device_count(int count) { g_count = count; }
void set_link(bool on) { g_link = on; }
void set_threads(int threads) { g_threads = threads; }
void set_link_rank(int device, int peer, int rank) {
  std::lock_guard lock(g_mutex);
  g_link_ranks[{device, peer}] = rank;
}
cudaError_t last_error() { return t_last; }
int live_handles() { return g_live; }
std::set<int> contexts() {
  std::lock_guard lock(g_mutex);
  return g_contexts;
}
void forget_contexts() {
  std::lock_guard lock(g_mutex);
  g_contexts.clear();
}
int peer_copies() { return g_peer_copies; }
bool reaches(int device, int peer) {
  std::lock_guard lock(g_mutex);
  return g_peers.count({device, peer}) != 0;
}

}  // namespace mxnet::testing::fake_cuda

extern "C" {

// How often somebody has waited for a stream; for programs that load this as part of a plug-in.
__attribute__((visibility("default"))) int fake_cuda_waits() { return g_waits; }
// The same: whether the devices have no memory left.
__attribute__((visibility("default"))) void fake_cuda_be_full(bool full) {
  reset();
  if (full) fail("cudaMalloc", cudaErrorMemoryAllocation, true);
}

const char* cudaGetErrorString(cudaError_t) { return "a reason"; }
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorOther";
}
cudaError_t cudaGetLastError() { return std::exchange(t_last, cudaSuccess); }
cudaError_t cudaDriverGetVersion(int* version) {
  *version = g_driver;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = g_count;
  return answer("cudaGetDeviceCount");
}
cudaError_t cudaGetDevice(int* device) {
  *device = current();
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= g_count) return answer("cudaSetDevice", cudaErrorInvalidDevice);
  t_chosen = device;
  if (t_depth > 0) t_contexts[t_depth - 1] = device;
  used();
  return cudaSuccess;
}
// The driver's.
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(static_cast<std::size_t>(device) + 1);
  std::lock_guard lock(g_mutex);
  g_contexts.insert(device);
  return static_cast<CUresult>(device < g_count ? cudaSuccess : cudaErrorInvalidDevice);
}
CUresult cuCtxPushCurrent(CUcontext context) {
  const cudaError_t result = answer("cuCtxPushCurrent");
  if (result == cudaSuccess)
    t_contexts[t_depth++] = static_cast<int>(reinterpret_cast<std::size_t>(context) - 1);
  return static_cast<CUresult>(result);
}
CUresult cuCtxPopCurrent(CUcontext*) {
  --t_depth;
  return CUDA_SUCCESS;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  const std::string name = symbol;
  *function = graph_function(name);
  if (*function == nullptr)
    *function = name == "cuDevicePrimaryCtxRetain"
                    ? reinterpret_cast<void*>(cuDevicePrimaryCtxRetain)
                : name == "cuCtxPushCurrent" ? reinterpret_cast<void*>(cuCtxPushCurrent)
                : name == "cuCtxPopCurrent"  ? reinterpret_cast<void*>(cuCtxPopCurrent)
                                             : nullptr;
  *found = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  return answer("cudaGetDriverEntryPointByVersion");
}
// Some headers rename this function to a versioned one; both spellings reach this definition.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "Fake GPU");
  properties->totalGlobalMem = kCapacity;
  properties->major = 9;
  properties->multiProcessorCount = 4;
  return answer("cudaGetDeviceProperties");
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrComputeCapabilityMajor        ? 9
           : attribute == cudaDevAttrComputeCapabilityMinor      ? 0
           : attribute == cudaDevAttrMaxThreadsPerMultiProcessor ? g_threads.load()
                                                                 : 4;
  return answer("cudaDeviceGetAttribute");
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = kCapacity;
  *free = kCapacity;
  std::lock_guard lock(g_mutex);
  for (const auto& [block, info] : g_blocks) *free -= info.first == current() ? info.second : 0;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  return allocate("cudaMalloc", data, bytes, used());
}
cudaError_t cudaFree(void* data) {
  used();
  return release(data);
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  used();
  return allocate("cudaHostAlloc", data, bytes, -1);
}
cudaError_t cudaFreeHost(void* data) {
  used();
  return release(data);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  if (flags != cudaStreamNonBlocking || priority > 0 || priority < -5) {
    return answer("cudaStreamCreateWithPriority", cudaErrorInvalidValue);
  }
  const cudaError_t result = answer("cudaStreamCreateWithPriority");
  if (result != cudaSuccess) return result;
  *stream = new CUstream_st{used()};
  ++g_live;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  used();
  delete stream;
  --g_live;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  ++g_waits;
  used();
  return answer("cudaStreamSynchronize", look_at_memory());
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t, unsigned) {
  return answer("cudaStreamWaitEvent", on(stream));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  const cudaError_t result = answer("cudaEventCreateWithFlags");
  if (result != cudaSuccess) return result;
  *event = new CUevent_st{used()};
  ++g_live;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  used();
  delete event;
  --g_live;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const bool same = event->device == stream->device;
  return answer("cudaEventRecord", same ? on(stream) : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  used();
  return answer("cudaEventQuery");
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  used();
  return answer("cudaEventSynchronize");
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  const cudaError_t result = answer("cudaMemcpyAsync", on(stream));
  if (result == cudaSuccess) std::memcpy(to, from, bytes);
  return result;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  const bool devices = to_device != from_device && to_device == stream->device;
  const cudaError_t result =
      answer("cudaMemcpyPeerAsync", devices ? on(stream) : cudaErrorInvalidDevice);
  if (result == cudaSuccess) std::memcpy(to, from, bytes);
  ++g_peer_copies;
  return result;
}
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  const cudaError_t result = answer("cudaMemsetAsync", on(stream));
  if (result == cudaSuccess) std::memset(data, value, bytes);
  return result;
}
cudaError_t cudaMemset2DAsync(void* data, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  const cudaError_t result = answer("cudaMemset2DAsync", on(stream));
  for (std::size_t row = 0; result == cudaSuccess && row < height; ++row)
    std::memset(static_cast<char*>(data) + row * pitch, value, width);
  return result;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* data) {
  const cudaError_t result = answer("cudaLaunchHostFunc", on(stream));
  if (result == cudaSuccess) fn(data);
  return result;
}

cudaError_t cudaDeviceCanAccessPeer(int* yes, int device, int peer) {
  *yes = device != peer && g_link;
  return answer("cudaDeviceCanAccessPeer");
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                      int peer) {
  const bool known = device != peer && attribute == cudaDevP2PAttrPerformanceRank;
  const cudaError_t result =
      answer("cudaDeviceGetP2PAttribute", known ? cudaSuccess : cudaErrorInvalidValue);
  std::lock_guard lock(g_mutex);
  if (result == cudaSuccess) *value = g_link_ranks[{device, peer}];
  return result;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  bool added;
  {
    std::lock_guard lock(g_mutex);
    added = g_peers.insert({current(), peer}).second;
  }
  return answer("cudaDeviceEnablePeerAccess",
                added ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}

}  // extern "C"
