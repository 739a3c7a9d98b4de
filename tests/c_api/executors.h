// SPDX-License-Identifier: Apache-2.0
// Executors as C programs hold them, in short.
#pragma once
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "symbols.h"

namespace mxnet::c_test {

// An executor handle that frees itself.
class Bound {
 public:
  Bound() = default;
  Bound(Bound&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Bound() {
    if (handle_ != nullptr) {
      EXPECT_EQ(MXExecutorFree(handle_), 0);
    }
  }
  ExecutorHandle get() const { return handle_; }
  ExecutorHandle* out() { return &handle_; }

  Values output(uint32_t index = 0) const {
    uint32_t count = 0;
    NDArrayHandle* handles = nullptr;
    EXPECT_EQ(MXExecutorOutputs(handle_, &count, &handles), 0) << MXGetLastError();
    std::vector<Array> outputs;
    for (uint32_t i = 0; i < count; ++i) outputs.emplace_back(handles[i]);
    return index < count ? outputs[index].values() : Values();
  }
  Values forward(bool train = false) const {
    EXPECT_EQ(MXExecutorForward(handle_, train ? 1 : 0), 0) << MXGetLastError();
    return output();
  }

 private:
  ExecutorHandle handle_ = nullptr;
};

// Exact values: y = x * w.
inline Sym product() {
  const Sym x = var("x"), w = var("w");
  return call_symbol("elemwise_mul", "y", {x.get(), w.get()});
}
// It, or what is like it, with arrays for its gradients.
inline Bound bind(const Sym& net, const Array& x, const Array& w, const Array& dx,
                  const Array& dw) {
  NDArrayHandle arguments[] = {x.get(), w.get()}, gradients[] = {dx.get(), dw.get()};
  uint32_t writes[] = {1, 1};
  Bound executor;
  EXPECT_EQ(
      MXExecutorBind(net.get(), 1, 0, 2, arguments, gradients, writes, 0, nullptr, executor.out()),
      0)
      << MXGetLastError();
  return executor;
}

}  // namespace mxnet::c_test
