// SPDX-License-Identifier: Apache-2.0
// Opening by name, so that the dynamic linker's own rules (run path, LD_LIBRARY_PATH) apply.
#include "plugin/cuda/toolkit/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace mxnet::cuda {

Library::Library(const char* purpose, const std::vector<std::string>& names) : purpose_(purpose) {
  std::string reason;
  for (const std::string& name : names) {
    handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      return;
    }
    if (reason.empty()) reason = ::dlerror();
  }
  throw Error(ErrorCode::kNotImplemented, "cuda",
              fmt::format("given {}, which needs one of the libraries {}: none can be opened ({}); "
                          "install it, or put its folder into LD_LIBRARY_PATH",
                          purpose, fmt::join(names, ", "), reason));
}

void* Library::address(const char* symbol) const {
  if (void* found = ::dlsym(handle_, symbol)) return found;
  throw Error(ErrorCode::kNotImplemented, "cuda",
              fmt::format("given {}, which needs {} of {}: this version of the library lacks it",
                          purpose_, symbol, name_));
}

}  // namespace mxnet::cuda
