// SPDX-License-Identifier: Apache-2.0
// The only place that looks at the process's environment
// (tests/banned_symbols_test.py holds everybody else to it).
#include <unistd.h>

#include "base/config_resolve.h"

namespace mxnet {

EnvSnapshot snapshot_environment() {
  EnvSnapshot variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    // emplace keeps the first of equal names, as getenv does.
    if (equals != std::string_view::npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace mxnet
