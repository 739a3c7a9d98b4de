// SPDX-License-Identifier: Apache-2.0
// SymbolBase: the Python object that owns a handle of a symbol.
#pragma once
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/c_api.h"

namespace mxnet::python {

using Texts = std::vector<std::string>;

// Guarded by the GIL.
class SymbolBase {
 public:
  SymbolBase() = default;
  ~SymbolBase() { free(); }
  SymbolBase(const SymbolBase&) = delete;
  SymbolBase& operator=(const SymbolBase&) = delete;
  SymbolHandle handle() const { return handle_; }
  void take(SymbolHandle handle) {
    free();
    handle_ = handle;
  }
  // The symbol of another object, which is empty afterwards.
  void take_from(SymbolBase& other) { take(std::exchange(other.handle_, nullptr)); }

 private:
  // Most objects are empty when they end, and the library takes time to complain of no handle.
  void free() {
    if (handle_ != nullptr) NNSymbolFree(handle_);
  }

  SymbolHandle handle_ = nullptr;
};

inline std::unique_ptr<SymbolBase> owned_symbol(SymbolHandle handle) {
  auto made = std::make_unique<SymbolBase>();
  made->take(handle);
  return made;
}

inline std::vector<const char*> pointers(const Texts& texts) {
  std::vector<const char*> all;
  all.reserve(texts.size());
  for (const std::string& text : texts) all.push_back(text.c_str());
  return all;
}

}  // namespace mxnet::python
