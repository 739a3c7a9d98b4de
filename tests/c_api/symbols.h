// SPDX-License-Identifier: Apache-2.0
// Symbols as C programs make and read them, in short.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "handles.h"

namespace mxnet::c_test {

using Names = std::vector<std::string>;

// A symbol handle that frees itself.
class Sym {
 public:
  Sym() = default;
  explicit Sym(SymbolHandle handle) : handle_(handle) {}
  Sym(Sym&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Sym& operator=(Sym&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Sym() {
    if (handle_ != nullptr) {
      EXPECT_EQ(NNSymbolFree(handle_), 0);
    }
  }
  SymbolHandle get() const { return handle_; }
  SymbolHandle* out() { return &handle_; }

 private:
  SymbolHandle handle_ = nullptr;
};

#define MX_OK(call) ASSERT_EQ(call, 0) << MXGetLastError()

inline Sym var(const char* name) {
  Sym sym;
  EXPECT_EQ(MXSymbolCreateVariable(name, sym.out()), 0);
  return sym;
}

inline Sym call_symbol(const char* op, const char* name, std::vector<SymbolHandle> inputs,
                       const Params& params = {}) {
  OpHandle handle;
  EXPECT_EQ(NNGetOpHandle(op, &handle), 0) << MXGetLastError();
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : params) {
    keys.push_back(key);
    values.push_back(value);
  }
  Sym sym;
  EXPECT_EQ(MXSymbolCreateAtomicSymbol(handle, static_cast<uint32_t>(keys.size()), keys.data(),
                                       values.data(), sym.out()),
            0)
      << MXGetLastError();
  EXPECT_EQ(
      NNSymbolCompose(sym.get(), name, static_cast<nn_uint>(inputs.size()), nullptr, inputs.data()),
      0)
      << MXGetLastError();
  return sym;
}

// x to three numbers.
inline Sym dense() {
  const Sym x = var("x");
  return call_symbol("FullyConnected", "fc", {x.get()}, {{"num_hidden", "3"}});
}

template <class List>
Names names(List list, const Sym& sym) {
  uint32_t size = 0;
  const char** texts = nullptr;
  EXPECT_EQ(list(sym.get(), &size, &texts), 0) << MXGetLastError();
  return {texts, texts + size};
}

}  // namespace mxnet::c_test
