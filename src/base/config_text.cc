// SPDX-License-Identifier: Apache-2.0
// Parsers and printers of configuration values.
#include "base/config_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace mxnet {
namespace {

// The whole of `text` as a number: from_chars knows no locale and never reads past the end. One '+'
// is let through, as strtol does; "+-1" is not.
template <class T, class... Format>
std::optional<T> parse_number(std::string_view text, Format... format) {
  text = trimmed(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, format...);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

const EnumName EnumNames<EngineType>::kNames[] = {
    {"NaiveEngine", static_cast<int>(EngineType::kNaive)},
    {"ThreadedEngine", static_cast<int>(EngineType::kThreaded)},
    {"ThreadedEnginePerDevice", static_cast<int>(EngineType::kThreadedPerDevice)},
    {nullptr, 0}};
const EnumName EnumNames<PoolType>::kNames[] = {{"Naive", static_cast<int>(PoolType::kNaive)},
                                                {"Round", static_cast<int>(PoolType::kRound)},
                                                {"Unpooled", static_cast<int>(PoolType::kUnpooled)},
                                                {nullptr, 0}};
const EnumName EnumNames<LogLevel>::kNames[] = {{"debug", static_cast<int>(LogLevel::kDebug)},
                                                {"info", static_cast<int>(LogLevel::kInfo)},
                                                {"warning", static_cast<int>(LogLevel::kWarning)},
                                                {"error", static_cast<int>(LogLevel::kError)},
                                                {"off", static_cast<int>(LogLevel::kOff)},
                                                {nullptr, 0}};

std::optional<bool> ConfigText<bool>::parse(std::string_view text) {
  text = trimmed(text);
  if (text == "1" || equal_ignoring_case(text, "true")) return true;
  if (text == "0" || equal_ignoring_case(text, "false")) return false;
  return std::nullopt;
}

std::optional<int64_t> ConfigText<int64_t>::parse(std::string_view text) {
  return parse_number<int64_t>(text);
}

std::optional<int> ConfigText<int>::parse(std::string_view text) { return parse_number<int>(text); }

std::optional<double> ConfigText<double>::parse(std::string_view text) {
  const auto value = parse_number<double>(text, std::chars_format::general);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string ConfigText<double>::print(double value) {
  return fmt::format("{}", value);  // the shortest text that reads back as the same number
}

std::string enum_syntax(const EnumName* names) {
  std::string all;
  for (const EnumName* name = names; name->text != nullptr; ++name) {
    if (name != names) all += name[1].text == nullptr ? " or " : ", ";
    all += name->text;
  }
  return all;
}

std::optional<int> parse_enum(const EnumName* names, std::string_view text) {
  text = trimmed(text);
  for (; names->text != nullptr; ++names) {
    if (equal_ignoring_case(names->text, text)) return names->value;
  }
  return std::nullopt;
}

std::string print_enum(const EnumName* names, int value) {
  for (; names->text != nullptr; ++names) {
    if (names->value == value) return names->text;
  }
  return fmt::format("{}", value);
}

}  // namespace mxnet
