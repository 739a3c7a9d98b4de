// SPDX-License-Identifier: Apache-2.0
// Work runs at once; what is left of a stream is the error that it keeps until somebody asks.
#include "device/cpu/cpu_device_api.h"

#include <cstring>
#include <exception>

#include "base/cpu_info.h"
#include "base/lock.h"
#include "base/stream_copy.h"
#include "device/cpu/host_memory.h"
#include "device/device_check.h"

namespace mxnet {
namespace {

// Thread-safe. What a NativeStream of this api points to.
class CpuStream {
 public:
  static CpuStream* from(NativeStream* stream) { return reinterpret_cast<CpuStream*>(stream); }
  NativeStream* native() { return reinterpret_cast<NativeStream*>(this); }

  void keep(std::exception_ptr error) {
    MutexLock lock(mutex_);
    if (error_ == nullptr) error_ = std::move(error);
  }
  std::exception_ptr take() {
    MutexLock lock(mutex_);
    return std::exchange(error_, nullptr);
  }

 private:
  Mutex mutex_;
  std::exception_ptr error_ MX_GUARDED_BY(mutex_);
};

// Every event of the host is complete when recorded, so all of them are this one.
char g_event;
NativeEvent* the_event() { return reinterpret_cast<NativeEvent*>(&g_event); }

}  // namespace

DeviceProperties CpuDeviceApi::properties(int device) {
  DeviceProperties result;
  result.name = "CPU";
  result.total_memory = memory_info(device).total;
  result.multiprocessors = static_cast<int>(allowed_cpus().size());
  return result;
}

MemoryInfo CpuDeviceApi::memory_info(int) {
  const HostMemory memory = host_memory();
  return {memory.available, memory.total};
}

void* CpuDeviceApi::allocate(int, std::size_t bytes) { return host_allocate(bytes); }

void CpuDeviceApi::release(int, void* data, std::size_t bytes) noexcept {
  host_release(data, bytes);
}

void* CpuDeviceApi::allocate_pinned(std::size_t bytes) { return host_allocate_pages(bytes); }

void CpuDeviceApi::release_pinned(void* data, std::size_t bytes) noexcept {
  host_release_pages(data, bytes);
}

NativeStream* CpuDeviceApi::create_stream(int, StreamPriority) { return (new CpuStream)->native(); }

void CpuDeviceApi::destroy_stream(int, NativeStream* stream) noexcept {
  delete CpuStream::from(stream);
}

void CpuDeviceApi::synchronize(int, NativeStream* stream) {
  if (stream == nullptr) return;
  if (std::exception_ptr error = CpuStream::from(stream)->take()) std::rethrow_exception(error);
}

NativeEvent* CpuDeviceApi::create_event(int) { return the_event(); }
void CpuDeviceApi::destroy_event(int, NativeEvent*) noexcept {}
void CpuDeviceApi::record(int, NativeEvent*, NativeStream*) {}
void CpuDeviceApi::wait(int, NativeStream*, NativeEvent*) {}
bool CpuDeviceApi::done(int, NativeEvent*) { return true; }
void CpuDeviceApi::synchronize(int, NativeEvent*) {}

void CpuDeviceApi::copy(void* to_data, Device to, const void* from_data, Device from,
                        std::size_t bytes, NativeStream*) {
  check_host(name(), to);
  check_host(name(), from);
  copy_part(to_data, from_data, bytes, bytes);
}

void CpuDeviceApi::fill(int, void* data, unsigned char value, std::size_t bytes, NativeStream*) {
  if (bytes != 0) std::memset(data, value, bytes);
}

void CpuDeviceApi::host_call(int, NativeStream* stream, InlineFunction<void()> fn) {
  if (stream == nullptr) return fn();
  try {
    fn();
  } catch (...) {
    CpuStream::from(stream)->keep(std::current_exception());
  }
}

bool CpuDeviceApi::can_access_peer(int, int) { return true; }
void CpuDeviceApi::enable_peer_access(int, int) {}

}  // namespace mxnet
