// SPDX-License-Identifier: Apache-2.0
// Readers and printers of parameter values.
#include "op/params/param_text.h"

#include "base/config_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace mxnet {
namespace {

// from_chars knows no plus; a second sign stays to be refused.
std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

template <class Int>
Int parse_int(std::string_view text) {
  text = without_plus(trimmed(text));
  Int value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) {
    throw ParamError{fmt::format("outside [{}, {}]", std::numeric_limits<Int>::min(),
                                 std::numeric_limits<Int>::max())};
  }
  if (code != std::errc() || end != text.data() + text.size()) throw ParamError{"not an integer"};
  return value;
}

// Blanks may lead but not trail; "2f" is a number as in C.
template <class Float>
Float parse_float(std::string_view text) {
  text = without_plus(trimmed_front(text));
  Float value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) throw ParamError{"outside the type's range"};
  std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (code != std::errc() || !(rest.empty() || rest == "f" || rest == "F"))
    throw ParamError{"not a number"};
  return value;
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return lower;
}

// "None", perhaps with blanks after it.
bool is_none(std::string_view text) {
  return text.starts_with("None") && trimmed(text.substr(4)).empty();
}

// The items between ( or [ and ) or ], split at commas that are not inside inner brackets; a
// trailing comma is allowed.
std::vector<std::string_view> split_tuple(std::string_view text) {
  text = trimmed(text);
  const bool opens = text.starts_with('(') || text.starts_with('[');
  const bool closes = text.ends_with(')') || text.ends_with(']');
  if (text.size() < 2 || !opens || !closes) throw ParamError{"not a tuple"};
  text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> items;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '(' || text[i] == '[')) ++depth;
    if (i < text.size() && (text[i] == ')' || text[i] == ']') && --depth < 0)
      throw ParamError{"unbalanced brackets"};
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      items.push_back(trimmed(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  if (depth != 0) throw ParamError{"unbalanced brackets"};
  if (items.back().empty()) items.pop_back();  // "()", "(3,)"
  return items;
}

int64_t parse_dim(std::string_view item) {
  if (item.ends_with('L')) item.remove_suffix(1);  // Python 2 longs in old models
  return parse_int<int64_t>(item);
}

template <class T>
T parse_item(std::string_view item) {
  if constexpr (std::is_same_v<T, std::optional<int64_t>>)
    if (!is_none(item)) return parse_dim(item);  // where there may be more than a Shape takes
  return ParamText<T>::parse(item);
}

template <class T>
std::vector<T> parse_list(std::string_view text) {
  std::vector<T> values;
  text = trimmed(text);
  if (is_none(text)) return values;  // as if it were not given, not a tuple of one None
  // A bare number is a tuple of one.
  if (!text.starts_with('(') && !text.starts_with('[')) return {ParamText<T>::parse(text)};
  for (std::string_view item : split_tuple(text)) values.push_back(parse_item<T>(item));
  return values;
}

// Inside lists numbers are shown with six digits.
template <class T>
std::string print_item(const T& value) {
  if constexpr (std::is_floating_point_v<T>) return fmt::format("{:g}", value);
  return ParamText<T>::print(value);
}

template <class T>
std::string print_list(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) {
    if (text.size() > 1) text += ',';
    text += print_item(value);
  }
  return text + "]";
}

}  // namespace

int32_t ParamText<int32_t>::parse(std::string_view text) { return parse_int<int32_t>(text); }
std::string ParamText<int32_t>::print(const int32_t& value) { return std::to_string(value); }
int64_t ParamText<int64_t>::parse(std::string_view text) { return parse_int<int64_t>(text); }
std::string ParamText<int64_t>::print(const int64_t& value) { return std::to_string(value); }
uint32_t ParamText<uint32_t>::parse(std::string_view text) { return parse_int<uint32_t>(text); }
std::string ParamText<uint32_t>::print(const uint32_t& value) { return std::to_string(value); }
uint64_t ParamText<uint64_t>::parse(std::string_view text) { return parse_int<uint64_t>(text); }
std::string ParamText<uint64_t>::print(const uint64_t& value) { return std::to_string(value); }
float ParamText<float>::parse(std::string_view text) { return parse_float<float>(text); }
std::string ParamText<float>::print(const float& value) { return fmt::format("{:.9g}", value); }
double ParamText<double>::parse(std::string_view text) { return parse_float<double>(text); }
std::string ParamText<double>::print(const double& value) { return fmt::format("{:.17g}", value); }

bool ParamText<bool>::parse(std::string_view text) {
  const std::string lower = lowered(text);
  if (lower == "1" || lower == "true") return true;
  if (lower == "0" || lower == "false") return false;
  throw ParamError{"not 0, 1, true or false"};
}
std::string ParamText<bool>::print(const bool& value) { return value ? "1" : "0"; }

std::string ParamText<std::string>::parse(std::string_view text) { return std::string(text); }
std::string ParamText<std::string>::print(const std::string& value) { return value; }

Shape ParamText<Shape>::parse(std::string_view text) {
  text = trimmed(text);
  if (is_none(text)) return Shape();
  Shape shape = Shape::scalar();
  if (!text.starts_with('(') && !text.starts_with('[')) {
    if (text.starts_with('+')) throw ParamError{"not a tuple"};
    shape.push_back(parse_int<int64_t>(text));  // a bare number is one dimension
    return shape;
  }
  for (std::string_view item : split_tuple(text)) shape.push_back(parse_dim(item));
  return shape;
}
std::string ParamText<Shape>::print(const Shape& value) {
  if (!value.rank_known()) return "None";
  return print_list(std::vector<int64_t>(value.begin(), value.end()));
}

#define MX_OPTIONAL_TEXT(T)                                                       \
  std::optional<T> ParamText<std::optional<T>>::parse(std::string_view text) {    \
    if (is_none(text)) return std::nullopt;                                       \
    return ParamText<T>::parse(text);                                             \
  }                                                                               \
  std::string ParamText<std::optional<T>>::print(const std::optional<T>& value) { \
    return value ? ParamText<T>::print(*value) : "None";                          \
  }
MX_OPTIONAL_TEXT(int32_t)
MX_OPTIONAL_TEXT(int64_t)
MX_OPTIONAL_TEXT(float)
MX_OPTIONAL_TEXT(double)
MX_OPTIONAL_TEXT(Shape)
#undef MX_OPTIONAL_TEXT

// Unlike the others, in any case and between blanks.
std::optional<bool> ParamText<std::optional<bool>>::parse(std::string_view text) {
  text = trimmed(text);
  if (lowered(text) == "none") return std::nullopt;
  return ParamText<bool>::parse(text);
}
std::string ParamText<std::optional<bool>>::print(const std::optional<bool>& value) {
  return value ? ParamText<bool>::print(*value) : "None";
}

#define MX_LIST_TEXT(T)                                                       \
  std::vector<T> ParamText<std::vector<T>>::parse(std::string_view text) {    \
    return parse_list<T>(text);                                               \
  }                                                                           \
  std::string ParamText<std::vector<T>>::print(const std::vector<T>& value) { \
    return print_list(value);                                                 \
  }
MX_LIST_TEXT(int64_t)
MX_LIST_TEXT(float)
MX_LIST_TEXT(double)
MX_LIST_TEXT(Shape)
MX_LIST_TEXT(std::optional<int64_t>)
#undef MX_LIST_TEXT

}  // namespace mxnet
