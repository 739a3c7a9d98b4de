// SPDX-License-Identifier: Apache-2.0
// The keys of set_config: one row each.
#include "profiler/settings.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
#include "base/leaked.h"

namespace mxnet::profiler {
namespace {

struct Parsed {
  Settings settings;
  bool all = false, symbolic = true, imperative = true, memory = true, c_calls = true;
};

std::optional<bool> to_bool(std::string_view text) {
  for (const std::string_view yes : {"1", "True", "true"})
    if (text == yes) return true;
  for (const std::string_view no : {"0", "False", "false"})
    if (text == no) return false;
  return std::nullopt;
}

struct Key {
  std::string_view name;
  const char* allowed;
  std::function<bool(Parsed&, std::string_view)> store;  // false: a bad value
};

Key flag(std::string_view name, bool Parsed::*field) {
  return {name, "True or False", [field](Parsed& parsed, std::string_view text) {
            const std::optional<bool> value = to_bool(text);
            if (value.has_value()) parsed.*field = *value;
            return value.has_value();
          }};
}
Key flag(std::string_view name, bool Settings::*field) {
  return {name, "True or False", [field](Parsed& parsed, std::string_view text) {
            const std::optional<bool> value = to_bool(text);
            if (value.has_value()) parsed.settings.*field = *value;
            return value.has_value();
          }};
}

bool store_period(Parsed& parsed, std::string_view text) {
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, seconds);
  // A year: far from what a clock's arithmetic would not bear.
  if (code != std::errc() || stop != end || !(seconds > 0) || seconds > 3.2e7) return false;
  parsed.settings.dump_period = seconds;
  return true;
}

bool store_process(Parsed& parsed, std::string_view text) {
  parsed.settings.server = text == "server";
  return parsed.settings.server || text == "worker";
}

const std::vector<Key>& keys() {
  static Leaked<std::vector<Key>> all(std::vector<Key>{
      {"filename", "the path of a file",
       [](Parsed& parsed, std::string_view text) {
         parsed.settings.file_name = text;
         return !text.empty();
       }},
      flag("profile_all", &Parsed::all),
      flag("profile_symbolic", &Parsed::symbolic),
      flag("profile_imperative", &Parsed::imperative),
      flag("profile_memory", &Parsed::memory),
      flag("profile_api", &Parsed::c_calls),
      flag("continuous_dump", &Settings::continuous_dump),
      {"dump_period", "seconds, more than 0", store_period},
      flag("aggregate_stats", &Settings::aggregate_stats),
      {"profile_process", "worker or server", store_process},
  });
  return *all;
}

std::string all_names() {
  std::string names;
  for (const Key& key : keys()) names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
  return names;
}

}  // namespace

Settings default_settings(const ProfilerConfig& config) {
  Settings settings;
  settings.mode = static_cast<unsigned>(config.mode);
  return settings;
}

Settings parse_settings(std::string_view function, std::span<const KeyValue> texts) {
  Parsed parsed;
  for (const auto& [name, text] : texts) {
    const Key* found = nullptr;
    for (const Key& key : keys())
      if (key.name == name) found = &key;
    if (found == nullptr) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given the key '{}', expected one of {}", name, all_names()));
    }
    if (!found->store(parsed, text)) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given {} = '{}', expected {}", name, text, found->allowed));
    }
  }
  const auto bit = [&](bool on, Mode mode) { return on || parsed.all ? unsigned{mode} : 0U; };
  parsed.settings.mode = bit(parsed.symbolic, kModeSymbolic) |
                         bit(parsed.imperative, kModeImperative) |
                         bit(parsed.c_calls, kModeCCalls) | bit(parsed.memory, kModeMemory);
  return parsed.settings;
}

}  // namespace mxnet::profiler
