// SPDX-License-Identifier: Apache-2.0
// Numbers out of lines of text.
#pragma once
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace mxnet::io {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

inline void skip_blanks(std::string_view* text) {
  while (!text->empty() && is_blank(text->front())) text->remove_prefix(1);
}

// Takes a number, with blanks before it, off the front; false if there is none. As strtod and
// strtol: integers may be written with a fraction, which is dropped.
template <class T>
bool take_number(std::string_view* text, T* value) {
  skip_blanks(text);
  if (text->starts_with('+')) text->remove_prefix(1);
  const char* const end = text->data() + text->size();
  std::from_chars_result result = std::from_chars(text->data(), end, *value);
  if (result.ec != std::errc()) return false;
  if constexpr (std::is_integral_v<T>) {
    if (result.ptr != end && (*result.ptr == '.' || *result.ptr == 'e' || *result.ptr == 'E')) {
      double real = 0;
      result = std::from_chars(text->data(), end, real);
      real = std::trunc(real);
      // As from_chars has it: what the type does not hold is no number of it.
      using Limits = std::numeric_limits<T>;
      constexpr T kHalf = Limits::max() / 2 + 1;
      constexpr double kEnd = 2.0 * static_cast<double>(kHalf);
      if (!(real >= static_cast<double>(Limits::min()) && real < kEnd)) return false;
      *value = static_cast<T>(real);
    }
  }
  text->remove_prefix(static_cast<std::size_t>(result.ptr - text->data()));
  return true;
}

}  // namespace mxnet::io
