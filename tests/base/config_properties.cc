// SPDX-License-Identifier: Apache-2.0
// The properties that config_properties.h states.
#include "config_properties.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/config.h"
#include "base/config_resolve.h"
#include "base/config_row.h"
#include "base/error.h"

namespace mxnet::testing {
namespace {

void require(bool holds, const char* property, const char* type) {
  if (!holds) throw std::logic_error(fmt::format("{}: {}", type, property));
}

// A value prints as a text that parses to the same value.
template <class T>
void check_value(std::string_view text) {
  const auto value = ConfigText<T>::parse(text);
  if (!value) return;
  const auto again = ConfigText<T>::parse(ConfigText<T>::print(*value));
  require(again.has_value(), "what is printed parses", ConfigText<T>::kType);
  require(*again == *value, "what is printed parses to the same value", ConfigText<T>::kType);
}

// A row stores what it accepts, and explains what it does not in a
// short line of printable characters.
void check_row(const Row& row, std::string_view text) {
  if (row.accepts(text)) {
    Config config;
    row.store(text, config);
    require(row.accepts(row.print(config)), "the printed value is accepted", row.name);
    return;
  }
  const std::string line = bad_value_text(row, row.name, text);
  require(line.size() < 1000, "a message is short", row.name);
  for (const char c : line) require(c >= ' ' && c <= '~', "a message is printable", row.name);
}

}  // namespace

void check_config_parsers(std::string_view text) {
  check_value<bool>(text);
  check_value<int>(text);
  check_value<int64_t>(text);
  check_value<double>(text);
  check_value<std::string>(text);
  check_value<EngineType>(text);
  check_value<PoolType>(text);
  check_value<LogLevel>(text);
  check_value<std::optional<int>>(text);
  check_value<std::optional<int64_t>>(text);
  const auto& rows = config_rows();
  // One row a text, picked by the text itself, so that a failing input repeats alone.
  check_row(*rows[std::hash<std::string_view>()(text) % rows.size()], text);
}

}  // namespace mxnet::testing
