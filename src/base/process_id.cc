// SPDX-License-Identifier: Apache-2.0
// The process's id, kept, and taken anew by the child of a fork.
#include "base/process_id.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace mxnet {
namespace {

// Relaxed: it changes while the process has one thread.
constinit std::atomic<int> g_id{0};

void take() { g_id.store(::getpid(), std::memory_order_relaxed); }

}  // namespace

int process_id() {
  [[maybe_unused]] static const bool kept = [] {
    if (::pthread_atfork(nullptr, nullptr, take) != 0) throw std::bad_alloc();
    take();
    return true;
  }();
  return g_id.load(std::memory_order_relaxed);
}

}  // namespace mxnet
