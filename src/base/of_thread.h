// SPDX-License-Identifier: Apache-2.0
// What each thread has of its own, and what is there as long as anything runs on the thread: exit
// handlers and destructors of static objects run on one whose thread_local objects are gone.
#pragma once
#include <utility>

namespace mxnet {

// Calls `forget` when the thread ends, without a variable of the thread for it.
void at_end_of_thread(void (*forget)(void*));

// The T of this thread, made at its first use and deleted with the thread's other objects. What
// comes after that gets another one, which is left behind: the process ends. `Of` tells apart what
// has the same type. A pointer and no object: a library that is opened late gets little room for
// variables of threads (tests/static_tls_test.py), where an object's guards would lie as well.
template <class T, class Of = T>
T& of_thread() {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local T* kept = nullptr;
  const auto make = []() __attribute__((noinline))->T& {
    kept = new T();
    at_end_of_thread([](void*) { delete std::exchange(kept, nullptr); });
    return *kept;
  };
  return kept != nullptr ? *kept : make();
}

}  // namespace mxnet
