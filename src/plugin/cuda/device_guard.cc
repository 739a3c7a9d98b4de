// SPDX-License-Identifier: Apache-2.0
// Touches the current device only when it differs: the common case costs one look-up in the
// runtime. Another one becomes current by the driver's stack of contexts, not by cudaSetDevice:
// to put a device back that way would make a context on it, half a gigabyte of device 0 for a
// process that uses device 3 alone.
#include "plugin/cuda/device_guard.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <vector>

#include "base/lock.h"
#include "plugin/cuda/check.h"

namespace mxnet::cuda {
namespace {

constexpr int kNobody = -1;
thread_local int t_guarded = kNobody;  // by the innermost guard that has changed anything
std::atomic<int> g_used{kNobody};

void check_driver(CUresult result, const char* call) {
  check(static_cast<cudaError_t>(result), call);  // numbers of errors are the same in both
}

// The driver's functions, and the context that each device shares with all libraries. Thread-safe.
class Contexts {
 public:
  static Contexts& get() {
    static auto* const all = new Contexts;  // never given back, as the runtime's own
    return *all;
  }
  void push(int device) { check_driver(push_(of(device)), "cuCtxPushCurrent"); }
  void pop() noexcept {
    CUcontext ignored = nullptr;
    pop_(&ignored);
  }

 private:
  Contexts() {
    find("cuDevicePrimaryCtxRetain", &retain_);
    find("cuCtxPushCurrent", &push_);
    find("cuCtxPopCurrent", &pop_);
  }
  template <class F>
  static void find(const char* name, F* function) {
    constexpr unsigned kVersion = 12000;  // of CUDA, in which they look like this
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    MX_CUDA_CALL(
        cudaGetDriverEntryPointByVersion(name, &address, kVersion, cudaEnableDefault, &found));
    if (address == nullptr) throw_error(cudaErrorSymbolNotFound, name);
    *function = reinterpret_cast<F>(address);
  }
  CUcontext of(int device) {
    const auto index = static_cast<std::size_t>(device);
    MutexLock lock(mutex_);
    if (contexts_.size() <= index) contexts_.resize(index + 1);
    if (contexts_[index] == nullptr)
      check_driver(retain_(&contexts_[index], device), "cuDevicePrimaryCtxRetain");
    return contexts_[index];
  }

  decltype(&cuDevicePrimaryCtxRetain) retain_ = nullptr;
  decltype(&cuCtxPushCurrent) push_ = nullptr;
  decltype(&cuCtxPopCurrent) pop_ = nullptr;
  Mutex mutex_;
  std::vector<CUcontext> contexts_ MX_GUARDED_BY(mutex_);  // by device
};

}  // namespace

int guarded_device() noexcept { return t_guarded; }

int current_device() {
  if (t_guarded != kNobody) return t_guarded;
  int device = 0;
  MX_CUDA_CALL(cudaGetDevice(&device));
  return device;
}

int any_used_device() {
  // Relaxed: whichever thread has used it, the device is there.
  const int used = g_used.load(std::memory_order_relaxed);
  return used == kNobody ? current_device() : used;
}

DeviceGuard::DeviceGuard(int device) {
  if (current_device() != device) {
    Contexts::get().push(device);
    before_ = t_guarded;
    t_guarded = device;
  }
  if (g_used.load(std::memory_order_relaxed) == kNobody)
    g_used.store(device, std::memory_order_relaxed);
}

DeviceGuard::DeviceGuard(int device, std::nothrow_t) noexcept {
  try {
    if (current_device() == device) return;
    Contexts::get().push(device);
    before_ = t_guarded;
    t_guarded = device;
  } catch (...) {  // there is nobody to tell
  }
}

DeviceGuard::~DeviceGuard() {
  if (before_ == kNothing) return;
  t_guarded = before_;
  Contexts::get().pop();
}

}  // namespace mxnet::cuda
