// SPDX-License-Identifier: Apache-2.0
// What a configuration row allows beyond being of its type. Each is a small constant
// that both checks a value and says in words what it checks, so that errors, tables
// and pages cannot disagree with the code.
//
// A type A serves a row of type T if it has  bool accepts(const T&) const  and
// std::string text(std::string syntax) const, which turns ConfigText<T>::syntax() into the
// full sentence part after "expected ".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mxnet {

// Every value of the type. Texts must be UTF-8 of a sane length: all of
// them end up in messages, tables and JSON.
struct AnyValue {
  template <class T>
  bool accepts(const T&) const {
    return true;
  }
  bool accepts(const std::string& value) const;
  std::string text(const std::string& syntax) const;
};
constexpr AnyValue any() { return {}; }

// Any bytes at all: variables that belong to the system, which this library must not reject.
struct AnyBytes {
  bool accepts(const std::string&) const { return true; }
  std::string text(const std::string& syntax) const { return syntax; }
};
constexpr AnyBytes any_bytes() { return {}; }

// lo <= value.
struct AtLeast {
  int64_t lo;
  bool accepts(double value) const { return value >= static_cast<double>(lo); }
  bool accepts(int64_t value) const { return value >= lo; }
  bool accepts(int value) const { return value >= lo; }
  std::string text(const std::string& syntax) const {
    return syntax + " of at least " + std::to_string(lo);
  }
};
constexpr AtLeast at_least(int64_t lo) { return {lo}; }

// lo <= value <= hi.
struct Between {
  int64_t lo, hi;
  bool accepts(double value) const {
    return value >= static_cast<double>(lo) && value <= static_cast<double>(hi);
  }
  bool accepts(int64_t value) const { return value >= lo && value <= hi; }
  bool accepts(int value) const { return value >= lo && value <= hi; }
  std::string text(const std::string& syntax) const {
    return syntax + " between " + std::to_string(lo) + " and " + std::to_string(hi);
  }
};
constexpr Between between(int64_t lo, int64_t hi) { return {lo, hi}; }

struct PowerOfTwo {
  bool accepts(int64_t value) const { return value > 0 && (value & (value - 1)) == 0; }
  std::string text(const std::string& syntax) const { return syntax + " that is a power of two"; }
};
constexpr PowerOfTwo power_of_two() { return {}; }

// Comma-separated integers, each from lo to hi; empty = none.
struct IntegerList {
  int64_t lo, hi;
  bool accepts(const std::string& value) const;
  std::string text(const std::string& syntax) const;
};
constexpr IntegerList integers_between(int64_t lo, int64_t hi) { return {lo, hi}; }

// One or more (comma-separated, when `many`) of the words in `choices`,
// which are separated by single blanks.
struct Words {
  std::string_view choices;
  bool many;
  bool accepts(const std::string& value) const;
  std::string text(const std::string& syntax) const;
};
constexpr Words one_of(std::string_view choices) { return {choices, false}; }
constexpr Words some_of(std::string_view choices) { return {choices, true}; }

}  // namespace mxnet
