// SPDX-License-Identifier: Apache-2.0
// Where a test program finds the files that it reads and the programs that it starts: its build
// writes a source of them (mx_test_paths in cmake/Targets.cmake). Definitions of the compiler would
// have the folder of the checkout in each command, and ccache would know no test of another one.
#pragma once
#include <string>
#include <string_view>

namespace mxnet {

// The path that has this name there. "data" is tests/data.
std::string test_path(std::string_view name);
inline std::string test_data(std::string_view name) {
  return test_path("data").append("/").append(name);
}

}  // namespace mxnet
