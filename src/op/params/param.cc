// SPDX-License-Identifier: Apache-2.0
// Filling a parameter struct from texts.
#include "op/params/param.h"

#include <fmt/format.h>

#include <bitset>

#include "base/error.h"

namespace mxnet {
namespace {

// A field of this name takes all keys that no other one does, hidden ones too, in one text: KEY,
// NUL, VALUE, NUL, ...
constexpr std::string_view kRest = "**";

bool is_hidden(std::string_view key) {
  return key.size() > 4 && key.starts_with("__") && key.ends_with("__");
}

std::string known_names(const std::vector<ParamField>& fields) {
  std::string names;
  for (const ParamField& field : fields)
    if (field.parse) names += (names.empty() ? "" : ", ") + field.name;
  return names.empty() ? "no parameters" : names;
}

constexpr std::string_view kRequired = ", required";

// What is required of a value: its type without what says that it must be there.
std::string_view value_type(std::string_view type) {
  if (type.ends_with(kRequired)) type.remove_suffix(kRequired.size());
  return type;
}

// Some types say in op info no more than the default: ", optional, default=None".
std::string expected_value(std::string_view type, const ParamError& error) {
  type = value_type(type);
  if (type.empty() || type.starts_with(',')) type = "another value";
  return std::string(type) + (error.detail.empty() ? "" : ": " + error.detail);
}

}  // namespace

std::string required_type_text(std::string_view type) {
  return std::string(type).append(kRequired);
}

std::string optional_type_text(std::string_view type, std::string_view initial, bool quoted) {
  const char* quote = quoted ? "'" : "";
  return fmt::format("{}, optional, default={}{}{}", type, quote, initial, quote);
}

ParamsPtr ParamSchema::parse(const std::string& op, AttrList attrs) const {
  std::shared_ptr<void> params = make_();
  for (const ParamField& field : fields_)
    if (field.reset) field.reset(params.get());
  std::bitset<128> given;  // one a field; no operator or iterator has as many
  MX_ASSERT(fields_.size() <= given.size());
  const ParamField* const rest =
      !fields_.empty() && fields_.back().name == kRest ? &fields_.back() : nullptr;
  std::string rest_text;
  for (const auto& [key, text] : attrs) {
    std::size_t i = 0;
    while (i < fields_.size() && (fields_[i].name != key || !fields_[i].parse)) ++i;
    if (i == fields_.size() && rest != nullptr) {
      (rest_text.append(key) += '\0').append(text) += '\0';
      continue;
    }
    if (i == fields_.size()) {
      if (lenient_ || is_hidden(key)) continue;
      throw Error(ErrorCode::kValue, op,
                  fmt::format("given unknown parameter '{}' = '{}', expected {}", key, text,
                              known_names(fields_)));
    }
    try {
      fields_[i].parse(params.get(), text);
    } catch (const ParamError& error) {
      throw Error(ErrorCode::kValue, op,
                  fmt::format("given '{}' for parameter {}, expected {}", text, key,
                              expected_value(fields_[i].type, error)));
    }
    given.set(i);
  }
  if (rest != nullptr) rest->parse(params.get(), rest_text);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].required && !given[i]) {
      throw Error(ErrorCode::kValue, op,
                  fmt::format("Required parameter {} of {} is not presented", fields_[i].name,
                              value_type(fields_[i].type)));  // as existing programs match it
    }
  }
  return params;
}

}  // namespace mxnet
