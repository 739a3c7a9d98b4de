// SPDX-License-Identifier: Apache-2.0
// Text <-> value for every type that a configuration row may have. Pure functions: they neither
// throw nor log, so that a fuzzer can feed them anything. Ranges are not their business
// (config_allowed.h).
//
// ConfigText<T>::kType         the type's name in tables
// ConfigText<T>::syntax()      what a text must look like, as it reads after "expected "
// ConfigText<T>::parse(text)   nullopt if `text` is no T
// ConfigText<T>::print(value)  a text that parses to the same value
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/config_types.h"
#include "base/text.h"

namespace mxnet {

template <class T>
struct ConfigText;

// 0 and 1, or true and false in any case.
template <>
struct ConfigText<bool> {
  static constexpr const char* kType = "bool";
  static std::string syntax() { return "0, 1, true or false"; }
  static std::optional<bool> parse(std::string_view text);
  static std::string print(bool value) { return value ? "1" : "0"; }
};

// Decimal, with an optional sign; no exponent, no unit.
template <>
struct ConfigText<int64_t> {
  static constexpr const char* kType = "int64";
  static std::string syntax() { return "an integer"; }
  static std::optional<int64_t> parse(std::string_view text);
  static std::string print(int64_t value) { return std::to_string(value); }
};
template <>
struct ConfigText<int> {
  static constexpr const char* kType = "int";
  static std::string syntax() { return "an integer"; }
  static std::optional<int> parse(std::string_view text);
  static std::string print(int value) { return std::to_string(value); }
};

// Decimal point or exponent, whatever the locale; neither infinity nor nan.
template <>
struct ConfigText<double> {
  static constexpr const char* kType = "float";
  static std::string syntax() { return "a number"; }
  static std::optional<double> parse(std::string_view text);
  static std::string print(double value);
};

// Any bytes: what a text may hold is said by the row's `allowed`.
template <>
struct ConfigText<std::string> {
  static constexpr const char* kType = "text";
  static std::string syntax() { return "text"; }
  static std::optional<std::string> parse(std::string_view text) { return std::string(text); }
  static std::string print(const std::string& value) { return value; }
};

// "auto": the library chooses; the row's doc says how.
template <class T>
struct ConfigText<std::optional<T>> {
  static constexpr const char* kType = ConfigText<T>::kType;
  static std::string syntax() { return "auto or " + ConfigText<T>::syntax(); }
  static std::optional<std::optional<T>> parse(std::string_view text) {
    if (text == "auto") return std::optional<T>();
    if (auto value = ConfigText<T>::parse(text)) return std::optional<T>(std::move(value));
    return std::nullopt;
  }
  static std::string print(const std::optional<T>& value) {
    return value ? ConfigText<T>::print(*value) : "auto";
  }
};

// Names in any case. A new enumeration needs its names in config_text.cc and this declaration.
struct EnumName {
  const char* text;
  int value;
};
template <class E>
struct EnumNames;  // static const EnumName kNames[]; in the order of the documentation, ended by a
                   // null text
template <>
struct EnumNames<EngineType> {
  static const EnumName kNames[];
};
template <>
struct EnumNames<PoolType> {
  static const EnumName kNames[];
};
template <>
struct EnumNames<LogLevel> {
  static const EnumName kNames[];
};
std::string enum_syntax(const EnumName* names);
std::optional<int> parse_enum(const EnumName* names, std::string_view text);
std::string print_enum(const EnumName* names, int value);

template <class E>
requires std::is_enum_v<E>
struct ConfigText<E> {
  static constexpr const char* kType = "name";
  static std::string syntax() { return enum_syntax(EnumNames<E>::kNames); }
  static std::optional<E> parse(std::string_view text) {
    const std::optional<int> value = parse_enum(EnumNames<E>::kNames, text);
    return value ? std::optional<E>(static_cast<E>(*value)) : std::nullopt;
  }
  static std::string print(E value) {
    return print_enum(EnumNames<E>::kNames, static_cast<int>(value));
  }
};

}  // namespace mxnet
