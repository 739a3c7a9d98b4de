// SPDX-License-Identifier: Apache-2.0
// Trimming, comparing, checking and quoting; independent of the locale.
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace mxnet {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view trimmed_front(std::string_view text) {
  return text.substr(std::min(text.size(), text.find_first_not_of(kBlanks)));
}

std::string_view trimmed(std::string_view text) {
  text = trimmed_front(text);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int extra = lead < 0x80         ? 0
                      : lead >> 5 == 0x6  ? 1
                      : lead >> 4 == 0xE  ? 2
                      : lead >> 3 == 0x1E ? 3
                                          : -1;
    if (extra < 0 || text.size() - i <= static_cast<size_t>(extra)) return false;
    uint32_t point = extra == 0 ? lead : lead & (0x3Fu >> extra);
    for (int k = 1; k <= extra; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<size_t>(k)]);
      if (next >> 6 != 0x2) return false;
      point = point << 6 | (next & 0x3Fu);
    }
    // Overlong forms, surrogates and what lies beyond Unicode are no characters.
    constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
    if (point < kSmallest[extra] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
      return false;
    i += static_cast<size_t>(extra) + 1;
  }
  return true;
}

std::string quote_text(std::string_view text) {
  constexpr size_t kShown = 64;  // enough to recognise a value, short enough for one line
  std::string out = "\"";
  for (char c : text.substr(0, kShown)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  out += '"';
  if (text.size() > kShown) out += fmt::format("... ({} bytes)", text.size());
  return out;
}

}  // namespace mxnet
