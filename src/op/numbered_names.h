// SPDX-License-Identifier: Apache-2.0
// Names of as many inputs as a parameter says.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mxnet {

// stem0, stem1, ...: `count` of them; none for a count that is not positive.
inline std::vector<std::string> numbered_names(const char* stem, int64_t count) {
  std::vector<std::string> names;
  if (count > 0) names.reserve(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) names.push_back(stem + std::to_string(i));
  return names;
}

}  // namespace mxnet
