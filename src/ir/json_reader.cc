// SPDX-License-Identifier: Apache-2.0
// The grammar of JSON, one value at a time.
#include "ir/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace mxnet::ir {
namespace {

void append_utf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
    return;
  }
  const int extra = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr unsigned kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out->push_back(static_cast<char>(kLead[extra] | code >> (6 * extra)));
  for (int i = extra - 1; i >= 0; --i)
    out->push_back(static_cast<char>(0x80 | (code >> (6 * i) & 0x3F)));
}

}  // namespace

void JsonReader::skip_blanks() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
}

char JsonReader::peek() {
  skip_blanks();
  if (at_ == text_.size()) fail("more text");
  return text_[at_];
}

void JsonReader::expect(char c) {
  if (peek() != c) fail(fmt::format("'{}'", c));
  ++at_;
  first_ = true;
}

bool JsonReader::more(char closing) {
  const char next = peek();
  if (next == closing) {
    ++at_;
    first_ = false;  // of whatever it is nested in
    return false;
  }
  if (!first_) {
    if (next != ',') fail(fmt::format("',' or '{}'", closing));
    ++at_;
  }
  first_ = false;
  return true;
}

std::string_view JsonReader::key() {
  const std::string_view key = string();
  if (peek() != ':') fail("':'");
  ++at_;
  return key;
}

std::string_view JsonReader::string() {
  if (peek() != '"') fail("a string");
  ++at_;
  // Most strings have no escapes and are parts of the text.
  const std::size_t end = text_.find_first_of("\"\\", at_);
  if (end == text_.npos) fail("the end of a string");
  if (text_[end] == '"') {
    const std::string_view plain = text_.substr(at_, end - at_);
    at_ = end + 1;
    return plain;
  }
  decoded_.clear();
  for (;;) {
    const std::size_t stop = text_.find_first_of("\"\\", at_);
    if (stop == text_.npos) fail("the end of a string");
    decoded_.append(text_, at_, stop - at_);
    at_ = stop + 1;
    if (text_[stop] == '"') return decoded_;
    decode_escape(&decoded_);
  }
}

uint32_t JsonReader::hex4() {
  uint32_t code = 0;
  const char* first = text_.data() + at_;
  if (text_.size() - at_ < 4 || std::from_chars(first, first + 4, code, 16).ptr != first + 4)
    fail("four hexadecimal digits");
  at_ += 4;
  return code;
}

void JsonReader::decode_escape(std::string* out) {
  static constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
  if (at_ == text_.size()) fail("an escape");
  const char c = text_[at_++];
  if (c != 'u') {
    const std::size_t which = kNames.find(c);
    if (which == kNames.npos) fail("an escape");
    out->push_back(kValues[which]);
    return;
  }
  uint32_t code = hex4();
  if (code >= 0xD800 && code < 0xDC00) {  // the first half of a pair
    if (text_.substr(at_, 2) != "\\u") fail("the second half of a surrogate pair");
    at_ += 2;
    const uint32_t low = hex4();
    if (low < 0xDC00 || low > 0xDFFF) fail("the second half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code <= 0xDFFF) {
    fail("a character, not half of a surrogate pair");
  }
  append_utf8(code, out);
}

int64_t JsonReader::integer() {
  peek();
  int64_t value = 0;
  const char* first = text_.data() + at_;
  const char* last = text_.data() + text_.size();
  const auto [end, code] = std::from_chars(first, last, value);
  if (code != std::errc() || (end != last && (*end == '.' || *end == 'e' || *end == 'E')))
    fail("an integer");
  at_ += static_cast<std::size_t>(end - first);
  return value;
}

// Iterative: nesting costs a byte a level, not a stack frame.
void JsonReader::skip_value() {
  std::string open;  // closing brackets to come
  do {
    if (!open.empty()) {
      if (!more(open.back())) {
        open.pop_back();
        continue;
      }
      if (open.back() == '}') key();
    }
    const char start = peek();
    if (start == '{' || start == '[') {
      begin(start);
      open.push_back(start == '{' ? '}' : ']');
    } else if (start == '"') {
      string();
    } else {
      skip_word();
    }
  } while (!open.empty());
}

// A number, true, false or null.
void JsonReader::skip_word() {
  const std::size_t end = std::min(text_.find_first_of(",]} \n\r\t", at_), text_.size());
  const std::string_view word = text_.substr(at_, end - at_);
  const char* const last = word.data() + word.size();
  double number;
  if (word != "true" && word != "false" && word != "null" &&
      (word.empty() || std::from_chars(word.data(), last, number).ptr != last))
    fail("a value");
  at_ = end;
}

void JsonReader::fail(std::string_view expected) const {
  const std::string_view before = text_.substr(0, at_);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  throw Error(
      ErrorCode::kValue, tag_,
      fmt::format("line {}, column {}: given {}, expected {}", line, at_ - start + 1,
                  at_ < text_.size() ? quote_text(text_.substr(at_, 20)) : "the end", expected));
}

}  // namespace mxnet::ir
