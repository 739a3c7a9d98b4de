// SPDX-License-Identifier: Apache-2.0
// What C programs record and differentiate, in short.
#pragma once
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "handles.h"

namespace mxnet::c_test {

// Runs `work(thread)` on each of several threads, which begin together, and waits for all.
inline void at_once(int count, const std::function<void(int)>& work) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      ++ready;
      while (ready.load() < count) std::this_thread::yield();
      work(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// This thread records until the end of a scope.
class Recording {
 public:
  Recording() { EXPECT_EQ(MXAutogradSetIsRecording(1, &before_), 0); }
  ~Recording() { EXPECT_EQ(MXAutogradSetIsRecording(before_, &before_), 0); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  int before_ = 0;
};

inline void mark(const Array& variable, const Array& gradient, uint32_t request = 1) {
  NDArrayHandle variables[] = {variable.get()}, gradients[] = {gradient.get()};
  EXPECT_EQ(MXAutogradMarkVariables(1, variables, &request, gradients), 0) << MXGetLastError();
}

// The gradient with respect to `variable`; none where that is an error.
inline Array gradient_of(const Array& head, const Array& variable, bool retain,
                         bool create = false) {
  NDArrayHandle heads[] = {head.get()}, variables[] = {variable.get()}, *gradients = nullptr;
  int* storage_types = nullptr;
  const int status = MXAutogradBackwardEx(1, heads, nullptr, 1, variables, retain ? 1 : 0,
                                          create ? 1 : 0, 1, &gradients, &storage_types);
  return status == 0 ? Array(gradients[0]) : Array();
}

}  // namespace mxnet::c_test
