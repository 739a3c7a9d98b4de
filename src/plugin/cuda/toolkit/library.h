// SPDX-License-Identifier: Apache-2.0
// Libraries of the toolkit that are opened when first used.
#pragma once
#include <string>
#include <vector>

namespace mxnet::cuda {

// Never closed: what it has registered with the driver lives as long as the process.
class Library {
 public:
  // The first of `names` that opens. Throws Error(kNotImplemented) that says what `purpose` needs
  // and what the dynamic linker answered.
  Library(const char* purpose, const std::vector<std::string>& names);

  // Puts the address of `symbol` into `*function`. Throws Error(kNotImplemented) where it has none.
  template <class F>
  void find(const char* symbol, F* function) const {
    *function = reinterpret_cast<F>(address(symbol));
  }
  const std::string& name() const { return name_; }

 private:
  void* address(const char* symbol) const;

  const char* const purpose_;
  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace mxnet::cuda
