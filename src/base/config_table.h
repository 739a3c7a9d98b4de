// SPDX-License-Identifier: Apache-2.0
// The process's configuration as text, for the C ABI and Python. All functions are
// thread-safe, resolve the configuration where they need it and throw Error(kValue), also
// when the environment holds a bad value.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace mxnet {

// An array of rows: name, section, field, type, default, allowed, when (startup, live), value,
// source (default, environment, set), spelling (the name in the environment), effect (active,
// pending, inert), note (its test, issue or reason), doc, aliases.
std::string config_to_json();

// The current value of the row called or spelled `name`; an error with
// the nearest name if there is none.
std::string config_get(std::string_view name);

// What getenv would say had every config_set gone to the environment: the text as given, nullopt if
// unset. For any name, a row's or not.
std::optional<std::string> config_variable(std::string_view name);

// nullopt or an empty text: back to the default. Startup rows can be set only until the first
// use of config(). Names that are no rows are kept for config_variable; MXNET_* ones among them
// warn, or are an error in strict mode.
void config_set(std::string_view name, std::optional<std::string_view> value);

}  // namespace mxnet
