// SPDX-License-Identifier: Apache-2.0
// What set_config can ask for, and its texts.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/config_sections.h"
#include "profiler/recorder.h"

namespace mxnet::profiler {

struct Settings {
  unsigned mode = kModeAll;
  std::string file_name = "profile.json";
  bool continuous_dump = true;
  double dump_period = 1;  // seconds
  bool aggregate_stats = false;
  // Whether the processes of the kvstore's servers are meant and not this one.
  bool server = false;
};

// Before any set_config: what the environment says.
Settings default_settings(const ProfilerConfig& config);

using KeyValue = std::pair<std::string_view, std::string_view>;

// A whole new configuration: what is not named has its default. Throws Error(kValue, function) for
// an unknown key or a bad value, which name what is allowed.
Settings parse_settings(std::string_view function, std::span<const KeyValue> texts);

}  // namespace mxnet::profiler
