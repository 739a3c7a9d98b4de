// SPDX-License-Identifier: Apache-2.0
// The process's id, kept, and taken anew by the child of a fork.
#include "base/process_id.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "base/fork_order.h"

namespace mxnet {
namespace {

// Relaxed: it changes while the process has one thread.
constinit std::atomic<int> g_id{0};
constinit std::atomic<pthread_t> g_thread{0};

void take() { g_id.store(::getpid(), std::memory_order_relaxed); }

// It fails only for want of memory, as the library is loaded.
[[gnu::constructor(kForkOrderConfig)]] void keep() {
  take();
  static_cast<void>(::pthread_atfork(nullptr, nullptr, [] {
    take();
    g_thread.store(::pthread_self(), std::memory_order_relaxed);
  }));
}

}  // namespace

int process_id() { return g_id.load(std::memory_order_relaxed); }

pthread_t thread_of_fork() { return g_thread.load(std::memory_order_relaxed); }

}  // namespace mxnet
