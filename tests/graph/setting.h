// SPDX-License-Identifier: Apache-2.0
// Live rows of the configuration, for a while.
#pragma once
#include <optional>

#include "base/config_table.h"

namespace mxnet::graph_test {

// A setting of the process, given back at the end.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { config_set(name, value); }
  ~Setting() { config_set(name_, std::nullopt); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* const name_;
};

}  // namespace mxnet::graph_test
