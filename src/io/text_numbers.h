// SPDX-License-Identifier: Apache-2.0
// Numbers out of lines of text.
#pragma once
#include <charconv>
#include <cstdint>
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
      if (!(real >= -9.2e18 && real <= 9.2e18)) return false;
      *value = static_cast<T>(static_cast<int64_t>(real));
    }
  }
  text->remove_prefix(static_cast<std::size_t>(result.ptr - text->data()));
  return true;
}

}  // namespace mxnet::io
