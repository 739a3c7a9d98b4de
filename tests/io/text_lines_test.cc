// SPDX-License-Identifier: Apache-2.0
// Lines of parts of text files, and numbers in them.
#include "io/text_lines.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "io/text_numbers.h"
#include "temporary_file.h"

namespace mxnet::io {
namespace {

using testing_io::TemporaryFile;

std::vector<std::string> lines_of(TextLines& lines) {
  std::vector<std::string> all;
  while (const auto line = lines.next()) all.emplace_back(*line);
  return all;
}

TEST(TextLines, EndInAnyWay) {
  const TemporaryFile file("a\r\n\nbb\n  \nccc");
  TextLines lines(file.path(), "test");
  const std::vector<std::string> expected{"a", "bb", "ccc"};
  EXPECT_EQ(lines_of(lines), expected);
  lines.rewind();
  EXPECT_EQ(lines_of(lines), expected);
}

TEST(TextLines, MayBeLongerThanWhatIsReadAhead) {
  const std::string longest(1 << 20, 'x');
  const TemporaryFile file("a\n" + longest + "\nb");
  TextLines lines(file.path(), "test");
  EXPECT_EQ(lines_of(lines), (std::vector<std::string>{"a", longest, "b"}));
}

TEST(TextLines, PartsHaveEachLineOnce) {
  std::string text;
  std::vector<std::string> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(std::string(static_cast<std::size_t>(1 + i * 7 % 13), 'a'));
    text += all.back() + "\n";
  }
  const TemporaryFile file(text);
  for (uint32_t parts : {1U, 2U, 5U, 333U}) {
    std::vector<std::string> joined;
    for (uint32_t part = 0; part < parts; ++part) {
      TextLines lines(file.path(), "test", part, parts);
      const std::vector<std::string> some = lines_of(lines);
      joined.insert(joined.end(), some.begin(), some.end());
    }
    EXPECT_EQ(joined, all) << parts;
  }
}

TEST(TextNumbers, AreTakenOffTheFront) {
  std::string_view text = "  +1.5e1 -2 .5x";
  float number = 0;
  EXPECT_TRUE(take_number(&text, &number));
  EXPECT_EQ(number, 15);
  EXPECT_TRUE(take_number(&text, &number));
  EXPECT_EQ(number, -2);
  EXPECT_TRUE(take_number(&text, &number));
  EXPECT_EQ(number, 0.5F);
  EXPECT_FALSE(take_number(&text, &number));
  text = "3.7 9";
  int32_t whole = 0;
  EXPECT_TRUE(take_number(&text, &whole));
  EXPECT_EQ(whole, 3);
  EXPECT_TRUE(take_number(&text, &whole));
  EXPECT_EQ(whole, 9);
}

TEST(TextNumbers, WhatATypeDoesNotHoldIsNoNumberOfItHoweverItIsWritten) {
  int32_t number = 0;
  for (std::string_view text :
       {"2147483648", "2147483648.0", "3e9", "-2147483649.5", "1e300", "-1e300"})
    EXPECT_FALSE(take_number(&text, &number)) << text;
  for (std::string_view text : {"2147483647", "2147483647.9", "2147483.647e3"}) {
    EXPECT_TRUE(take_number(&text, &number)) << text;
    EXPECT_EQ(number, INT32_MAX);
  }
  for (std::string_view text : {"-2147483648", "-2147483648.9"}) {
    EXPECT_TRUE(take_number(&text, &number)) << text;
    EXPECT_EQ(number, INT32_MIN);
  }
  uint64_t offset = 0;
  for (std::string_view text : {"18446744073709551616", "1.9e19", "-1", "-1.0"})
    EXPECT_FALSE(take_number(&text, &offset)) << text;
  std::string_view text = "1.5e19";
  EXPECT_TRUE(take_number(&text, &offset));
  EXPECT_EQ(offset, 15'000'000'000'000'000'000U);
}

}  // namespace
}  // namespace mxnet::io
