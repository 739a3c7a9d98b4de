// SPDX-License-Identifier: Apache-2.0
// The checks on text values.
#include "base/config_allowed.h"

#include <fmt/format.h>

#include "base/config_text.h"

namespace mxnet {
namespace {

// Far above any path or list, far below what would drown a log.
constexpr size_t kLongestText = 65536;

// Calls `accept` with each comma-separated, trimmed part; false as soon as it says so.
template <class F>
bool every_part(std::string_view list, F&& accept) {
  while (true) {
    const size_t comma = list.find(',');
    if (!accept(trimmed(list.substr(0, comma)))) return false;
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

bool is_word(std::string_view choices, std::string_view word) {
  while (!choices.empty()) {
    const size_t blank = choices.find(' ');
    if (equal_ignoring_case(choices.substr(0, blank), word)) return true;
    choices.remove_prefix(blank == std::string_view::npos ? choices.size() : blank + 1);
  }
  return false;
}

}  // namespace

bool AnyValue::accepts(const std::string& value) const {
  return value.size() <= kLongestText && is_utf8(value);
}

std::string AnyValue::text(const std::string& syntax) const {
  return syntax == ConfigText<std::string>::syntax()
             ? fmt::format("UTF-8 text of at most {} bytes", kLongestText)
             : syntax;
}

bool IntegerList::accepts(const std::string& value) const {
  return value.empty() ||
         (value.size() <= kLongestText && every_part(value, [this](std::string_view part) {
            const auto number = ConfigText<int64_t>::parse(part);
            return number && *number >= lo && *number <= hi;
          }));
}

std::string IntegerList::text(const std::string&) const {
  return fmt::format("comma-separated integers between {} and {}", lo, hi);
}

bool Words::accepts(const std::string& value) const {
  if (!many) return is_word(choices, trimmed(value));
  return every_part(value, [this](std::string_view part) { return is_word(choices, part); });
}

std::string Words::text(const std::string&) const {
  std::string all(choices);
  for (size_t at = 0; (at = all.find(' ', at)) != std::string::npos; at += 2)
    all.replace(at, 1, ", ");
  return many ? "a comma-separated list of: " + all : "one of: " + all;
}

}  // namespace mxnet
