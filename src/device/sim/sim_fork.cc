// SPDX-License-Identifier: Apache-2.0
// Lock order: this file's list, then per api control, pinned memory, and per device its state, its
// streams, its memory. Nothing else in the simulator holds two of these but drain(), which takes
// state before stream.
#include "device/sim/sim_fork.h"

#include <pthread.h>

#include <mutex>
#include <vector>

#include "base/fork_order.h"
#include "base/leaked.h"
#include "base/lock.h"
#include "device/sim/sim_device_api.h"
#include "device/sim/sim_device_state.h"

namespace mxnet {
namespace {

struct Watched {
  Mutex mutex;
  std::vector<SimDeviceApi*> apis MX_GUARDED_BY(mutex);
};

Watched& watched() {
  static Leaked<Watched> list;
  return *list;
}

void prepare() MX_NO_THREAD_SAFETY_ANALYSIS {
  watched().mutex.lock();
  for (SimDeviceApi* api : watched().apis) api->before_fork();
}

void in_parent() MX_NO_THREAD_SAFETY_ANALYSIS {
  for (SimDeviceApi* api : watched().apis) api->after_fork(false);
  watched().mutex.unlock();
}

void in_child() MX_NO_THREAD_SAFETY_ANALYSIS {
  for (SimDeviceApi* api : watched().apis) api->after_fork(true);
  watched().mutex.unlock();
}

[[gnu::constructor(kForkOrderDevice)]] void register_at_load() {
  pthread_atfork(prepare, in_parent, in_child);
}

}  // namespace

void watch_forks(SimDeviceApi& api) {
  MutexLock lock(watched().mutex);
  watched().apis.push_back(&api);
}

void unwatch_forks(SimDeviceApi& api) noexcept {
  MutexLock lock(watched().mutex);
  std::erase(watched().apis, &api);
}

void SimDeviceApi::before_fork() {
  control_.lock();
  pinned_.lock();
  for (const auto& state : devices_) {
    state->mutex.lock();
    for (SimStream* stream : state->streams) stream->before_fork();
    state->memory.lock();
  }
}

void SimDeviceApi::after_fork(bool in_child) {
  for (const auto& state : devices_) {
    state->memory.unlock();
    for (SimStream* stream : state->streams) stream->after_fork(in_child);
    state->mutex.unlock();
  }
  pinned_.unlock();
  control_.unlock();
}

}  // namespace mxnet
