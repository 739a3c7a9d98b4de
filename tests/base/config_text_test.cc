// SPDX-License-Identifier: Apache-2.0
// Texts of each value type: what they mean, what they do not, and that nothing else can happen.
#include "base/config_text.h"

#include <gtest/gtest.h>

#include <random>

#include "base/config_allowed.h"
#include "config_properties.h"

namespace mxnet {
namespace {

TEST(ConfigText, BoolIsZeroOneTrueFalseInAnyCase) {
  for (const char* text : {"1", "true", "True", "TRUE", " 1 ", "tRuE\n"})
    EXPECT_EQ(ConfigText<bool>::parse(text), true);
  for (const char* text : {"0", "false", "False", "FALSE"})
    EXPECT_EQ(ConfigText<bool>::parse(text), false);
  for (const char* text : {"", "2", "-1", "yes", "on", "10", "truee", "t"}) {
    EXPECT_EQ(ConfigText<bool>::parse(text), std::nullopt) << text;
  }
}

TEST(ConfigText, IntegersAreDecimalAndKnowTheirLimits) {
  EXPECT_EQ(ConfigText<int>::parse("42"), 42);
  EXPECT_EQ(ConfigText<int>::parse("+42"), 42);
  EXPECT_EQ(ConfigText<int>::parse("-7"), -7);
  EXPECT_EQ(ConfigText<int>::parse(" 0012\t"), 12);
  EXPECT_EQ(ConfigText<int>::parse("2147483647"), 2147483647);
  EXPECT_EQ(ConfigText<int>::parse("2147483648"), std::nullopt);
  EXPECT_EQ(ConfigText<int64_t>::parse("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(ConfigText<int64_t>::parse("9223372036854775808"), std::nullopt);
  for (const char* text :
       {"", " ", "abc", "1e6", "0x10", "1.0", "1 2", "+-1", "--1", "+", "4k", "\xff"}) {
    EXPECT_EQ(ConfigText<int64_t>::parse(text), std::nullopt) << text;
  }
}

TEST(ConfigText, FloatsAreFinite) {
  EXPECT_EQ(ConfigText<double>::parse("0.7"), 0.7);
  EXPECT_EQ(ConfigText<double>::parse("7e-1"), 0.7);
  EXPECT_EQ(ConfigText<double>::parse("-1"), -1.0);
  for (const char* text : {"", "nan", "inf", "-inf", "1e999", "0,7", "0x1p3", "1.0f"}) {
    EXPECT_EQ(ConfigText<double>::parse(text), std::nullopt) << text;
  }
}

TEST(ConfigText, EnumerationsAreNamesInAnyCase) {
  EXPECT_EQ(ConfigText<EngineType>::parse("NaiveEngine"), EngineType::kNaive);
  EXPECT_EQ(ConfigText<EngineType>::parse("threadedengineperdevice"),
            EngineType::kThreadedPerDevice);
  EXPECT_EQ(ConfigText<EngineType>::parse("Naive"), std::nullopt);
  EXPECT_EQ(ConfigText<EngineType>::syntax(),
            "NaiveEngine, ThreadedEngine or ThreadedEnginePerDevice");
  EXPECT_EQ(ConfigText<PoolType>::print(PoolType::kUnpooled), "Unpooled");
  EXPECT_EQ(ConfigText<LogLevel>::parse("WARNING"), LogLevel::kWarning);
}

TEST(ConfigText, AutoLeavesTheChoiceToTheLibrary) {
  using Auto = ConfigText<std::optional<int>>;
  EXPECT_EQ(Auto::parse("auto"), std::optional<std::optional<int>>(std::optional<int>()));
  EXPECT_EQ(Auto::parse("3"), std::optional<std::optional<int>>(std::optional<int>(3)));
  EXPECT_EQ(Auto::parse("automatic"), std::nullopt);
  EXPECT_EQ(Auto::print(std::nullopt), "auto");
}

TEST(ConfigText, QuotedIsPrintableAndShort) {
  EXPECT_EQ(quote_text("abc"), "\"abc\"");
  EXPECT_EQ(quote_text("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(quote_text("\xff\n\x7f"), "\"\\xff\\x0a\\x7f\"");
  EXPECT_EQ(quote_text(std::string(1 << 20, 'x')),
            "\"" + std::string(64, 'x') + "\"... (1048576 bytes)");
}

TEST(ConfigText, Utf8IsRecognised) {
  for (const char* good :
       {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const char* bad : {"\xff", "\x80", "\xc3", "\xc3(", "\xc0\xaf", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "a\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(bad)) << quote_text(bad);
  }
}

TEST(ConfigAllowed, RangesHoldTheirLimits) {
  EXPECT_TRUE(at_least(1).accepts(1));
  EXPECT_FALSE(at_least(1).accepts(0));
  EXPECT_TRUE(between(0, 100).accepts(100));
  EXPECT_FALSE(between(0, 100).accepts(101));
  EXPECT_FALSE(between(0, 1).accepts(1.001));
  EXPECT_TRUE(power_of_two().accepts(int64_t{1} << 62));
  for (const int64_t n : {int64_t{0}, int64_t{-4}, int64_t{12}, INT64_MIN})
    EXPECT_FALSE(power_of_two().accepts(n));
  EXPECT_EQ(between(0, 100).text("an integer"), "an integer between 0 and 100");
}

TEST(ConfigAllowed, ListsAreCheckedPartByPart) {
  EXPECT_TRUE(integers_between(1, 9).accepts(""));
  EXPECT_TRUE(integers_between(1, 9).accepts("4, 2"));
  for (const char* bad : {"0", "10", "4,", ",4", "4,,2", "4;2", "a", " "}) {
    EXPECT_FALSE(integers_between(1, 9).accepts(bad)) << bad;
  }
  EXPECT_TRUE(some_of("0 1 float32 float16").accepts("float32,Float16"));
  EXPECT_FALSE(some_of("0 1 float32 float16").accepts("float32,float"));
  EXPECT_FALSE(one_of("worker server").accepts("worker,server"));
  EXPECT_FALSE(one_of("worker server").accepts(""));
  EXPECT_EQ(one_of("worker server").text("text"), "one of: worker, server");
}

TEST(ConfigAllowed, TextsAreUtf8OfSaneLength) {
  EXPECT_TRUE(any().accepts(std::string("/home/\xc3\xa9")));
  EXPECT_FALSE(any().accepts(std::string("\xff")));
  EXPECT_FALSE(any().accepts(std::string(1 << 20, 'x')));
  EXPECT_TRUE(any_bytes().accepts(std::string("\xff")));
}

TEST(ConfigText, RandomTextsNeverBreakAProperty) {
  constexpr uint64_t kSeed = 20261120;
  constexpr int kCases = 100'000;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  const auto below = [&random](size_t n) { return static_cast<size_t>(random() % n); };
  // Pieces near the edges of every grammar, glued and mutated.
  const std::string pieces[] = {"0",        "1",          "true",
                                "FALSE",    "-",          "+",
                                "9",        "2147483647", "9223372036854775807",
                                ".",        "e",          "inf",
                                "nan",      "auto",       ",",
                                " ",        "\t",         "NaiveEngine",
                                "Round",    "error",      "float32",
                                "\xc3\xa9", "\xff",       "\"",
                                "\\",       "\x01",       "4096",
                                "1e308"};
  for (int i = 0; i < kCases; ++i) {
    std::string text;
    for (size_t n = below(6); n > 0; --n) text += pieces[below(std::size(pieces))];
    for (size_t n = below(3); n > 0 && !text.empty(); --n)
      text[below(text.size())] = static_cast<char>(below(256));
    ASSERT_NO_THROW(testing::check_config_parsers(text))
        << "case " << i << ": " << quote_text(text);
  }
}

}  // namespace
}  // namespace mxnet
