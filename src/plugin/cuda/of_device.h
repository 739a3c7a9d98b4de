// SPDX-License-Identifier: Apache-2.0
// What there is one of on each device: handles of libraries, plans that calls share.
#pragma once
#include <map>

#include "base/lock.h"
#include "plugin/cuda/device_guard.h"

namespace mxnet::cuda {

// The T of the current device, made when first asked for; lives as long as the process.
// Thread-safe.
template <class T>
T& of_current_device() {
  const int device = current_device();
  static Mutex mutex;
  static auto* const all = new std::map<int, T>;
  MutexLock lock(mutex);
  return (*all)[device];
}

}  // namespace mxnet::cuda
