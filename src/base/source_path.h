// SPDX-License-Identifier: Apache-2.0
// Source paths as people know them: from the repository's root, whatever directory the compiler was
// started in.
#pragma once
#include <string_view>

namespace mxnet {

// "/home/me/build/../src/engine/engine.cc" -> "src/engine/engine.cc"; paths outside the project
// keep their file name.
constexpr std::string_view short_source_path(std::string_view path) noexcept {
  for (std::string_view root : {"/src/", "/tests/", "/python/", "/benchmarks/", "/include/"}) {
    if (path.starts_with(root.substr(1))) return path;
    const std::size_t at = path.rfind(root);
    if (at != std::string_view::npos) return path.substr(at + 1);
  }
  return path.substr(path.rfind('/') + 1);  // npos + 1 == 0: the whole path
}

}  // namespace mxnet
