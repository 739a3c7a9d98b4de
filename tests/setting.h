// SPDX-License-Identifier: Apache-2.0
// Live rows of the configuration, for a while.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/config_table.h"

namespace mxnet {

// A row set until the end of a scope, which leaves it as it found it: set, or not.
class Setting {
 public:
  Setting(const char* name, std::string_view value) : name_(name), before_(config_variable(name)) {
    config_set(name, value);
  }
  ~Setting() { config_set(name_, before_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* const name_;
  const std::optional<std::string> before_;
};

}  // namespace mxnet
