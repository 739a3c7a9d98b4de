// SPDX-License-Identifier: Apache-2.0
// Reads JSON front to back, without a tree in between: what a file holds goes straight to where it
// belongs, and memory is bounded by the length of the text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mxnet::ir {

// For one thread. The text must outlive the reader. Each call throws Error(kValue) with line and
// column where the text is not what the call asks for.
//
//   reader.begin('{');
//   while (reader.more('}')) { std::string_view key = reader.key(); ... }
//   reader.begin('[');
//   while (reader.more(']')) ... reader.integer() ...
class JsonReader {
 public:
  // `tag` names who reads, in errors.
  JsonReader(std::string_view text, std::string_view tag) : text_(text), tag_(tag) {}

  void begin(char bracket) { expect(bracket); }
  // True before a further member or item; false past the closing bracket.
  bool more(char closing);
  // The name of the next member. Good until the next key() or string().
  std::string_view key();
  // Good until the next key() or string(). Control characters are taken as they are: older writers
  // did not escape them.
  std::string_view string();
  int64_t integer();
  // The next value, whatever it is.
  void skip_value();
  // The value whose first character comes next: '{', '[', '"', '-', a digit, or a letter.
  char peek();
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  void skip_blanks();
  void expect(char c);
  void decode_escape(std::string* out);
  uint32_t hex4();
  void skip_word();

  std::string_view text_;
  std::string_view tag_;
  std::size_t at_ = 0;
  bool first_ = false;   // no member or item has been read since the last bracket
  std::string decoded_;  // of a string with escapes
};

}  // namespace mxnet::ir
