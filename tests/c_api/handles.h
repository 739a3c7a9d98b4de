// SPDX-License-Identifier: Apache-2.0
// What a C program does, in short: arrays from values, values from arrays, calls by name.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "mxnet/c_api.h"

namespace mxnet::c_test {

using Values = std::vector<float>;
using Params = std::vector<std::pair<const char*, const char*>>;

// What an array of floats holds.
inline Values read(NDArrayHandle handle) {
  int ndim;
  const int* dims;
  EXPECT_EQ(MXNDArrayGetShapeEx(handle, &ndim, &dims), 0) << MXGetLastError();
  std::size_t size = 1;
  for (int i = 0; i < ndim; ++i) size *= static_cast<std::size_t>(dims[i]);
  Values values(size);
  EXPECT_EQ(MXNDArraySyncCopyToCPU(handle, values.data(), size), 0) << MXGetLastError();
  return values;
}

// An array handle that frees itself.
class Array {
 public:
  Array() = default;
  explicit Array(NDArrayHandle handle) : handle_(handle) {}
  explicit Array(const Values& values) {
    const uint32_t shape[] = {static_cast<uint32_t>(values.size())};
    EXPECT_EQ(MXNDArrayCreateEx(shape, 1, 1, 0, 0, 0, &handle_), 0) << MXGetLastError();
    EXPECT_EQ(MXNDArraySyncCopyFromCPU(handle_, values.data(), values.size()), 0);
  }
  Array(Array&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Array() { MXNDArrayFree(handle_); }

  NDArrayHandle get() const { return handle_; }
  Values values() const { return read(handle_); }

 private:
  NDArrayHandle handle_ = nullptr;
};

inline OpHandle op(const char* name) {
  OpHandle handle = nullptr;
  EXPECT_EQ(NNGetOpHandle(name, &handle), 0) << MXGetLastError();
  return handle;
}

// The result of the call; `outputs` is empty (then it is filled with new arrays) or given.
inline int invoke(const char* name, std::vector<NDArrayHandle> inputs, const Params& params,
                  std::vector<NDArrayHandle>* outputs) {
  std::vector<const char*> keys, texts;
  for (const auto& [key, text] : params) {
    keys.push_back(key);
    texts.push_back(text);
  }
  int count = static_cast<int>(outputs->size());
  NDArrayHandle* handles = outputs->empty() ? nullptr : outputs->data();
  const int* storage_types = nullptr;
  const int result = MXImperativeInvokeEx(op(name), static_cast<int>(inputs.size()), inputs.data(),
                                          &count, &handles, static_cast<int>(params.size()),
                                          keys.data(), texts.data(), &storage_types);
  if (result == 0 && outputs->empty()) outputs->assign(handles, handles + count);
  return result;
}

// The first output of a call that must succeed.
inline Array call(const char* name, std::vector<NDArrayHandle> inputs, const Params& params = {}) {
  std::vector<NDArrayHandle> outputs;
  EXPECT_EQ(invoke(name, std::move(inputs), params, &outputs), 0) << MXGetLastError();
  return outputs.empty() ? Array() : Array(outputs[0]);
}

inline bool error_has(std::string_view part) {
  return std::string_view(MXGetLastError()).find(part) != std::string_view::npos;
}

}  // namespace mxnet::c_test
