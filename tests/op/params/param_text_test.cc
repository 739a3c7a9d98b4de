// SPDX-License-Identifier: Apache-2.0
// The grammar of parameter texts, sentence by sentence: what existing scripts and models may say.
#include "op/params/param_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"

namespace mxnet {
namespace {

template <class T>
T parse(std::string_view text) {
  return ParamText<T>::parse(text);
}

template <class T>
void expect_refused(std::initializer_list<const char*> texts) {
  for (const char* text : texts)
    EXPECT_THROW(ParamText<T>::parse(text), ParamError) << '"' << text << '"';
}

TEST(ParamText, IntTakesSignAndOuterBlanks) {
  EXPECT_EQ(parse<int32_t>("1"), 1);
  EXPECT_EQ(parse<int32_t>("-1"), -1);
  EXPECT_EQ(parse<int32_t>("+1"), 1);
  EXPECT_EQ(parse<int32_t>(" 1 "), 1);
  EXPECT_EQ(parse<int32_t>("01"), 1);
  EXPECT_EQ(parse<int64_t>("9223372036854775807"), std::numeric_limits<int64_t>::max());
}

TEST(ParamText, IntRefusesEverythingElse) {
  expect_refused<int32_t>({"", " ", "4.0", "4L", "0x1", "None", "1e0", "--1", "+-1", "1 2", "+"});
}

TEST(ParamText, IntRefusesWhatDoesNotFit) {
  expect_refused<int32_t>({"99999999999", "2147483648", "-2147483649"});
  expect_refused<uint32_t>({"-1", "4294967296"});
}

TEST(ParamText, FloatTakesDecimalsExponentsAndSpecials) {
  EXPECT_EQ(parse<double>("2.0"), 2);
  EXPECT_EQ(parse<double>(" 2"), 2);
  EXPECT_EQ(parse<double>("+2"), 2);
  EXPECT_EQ(parse<double>("2."), 2);
  EXPECT_EQ(parse<double>(".5"), 0.5);
  EXPECT_EQ(parse<double>("1e3"), 1000);
  EXPECT_EQ(parse<double>("2f"), 2);
  EXPECT_EQ(parse<double>("2F"), 2);
  EXPECT_TRUE(std::isnan(parse<double>("nan")));
  EXPECT_EQ(parse<double>("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse<double>("infinity"), std::numeric_limits<double>::infinity());
}

TEST(ParamText, FloatRefusesOverflowHexAndTrailingText) {
  expect_refused<double>({"1e400", "1e-400", "0x10", "2 3", "", "2 ", "1_0", "None"});
  expect_refused<float>({"1e40"});
}

TEST(ParamText, BoolIsOneOfFourWordsInAnyCase) {
  for (const char* text : {"1", "True", "true", "TRUE", "tRue"}) EXPECT_TRUE(parse<bool>(text));
  for (const char* text : {"0", "False", "false", "FALSE"}) EXPECT_FALSE(parse<bool>(text));
  expect_refused<bool>({" True", "True ", "yes", "2", "", "None", "t"});
}

TEST(ParamText, ShapeTakesEitherBracketBlanksTrailingCommaAndLongs) {
  const Shape expected{3, 2};
  for (const char* text :
       {"(3,2)", "[3,2]", "(3, 2)", "( 3 , 2 )", "(3,2,)", "(3L,2L)", " (3,2) ", "[3,2)", "(+3,2)"})
    EXPECT_EQ(parse<Shape>(text), expected) << text;
}

TEST(ParamText, ShapeOfOneNumberIsOneDimension) {
  for (const char* text : {"6", "(6)", "(6,)", "[6]", "6 "})
    EXPECT_EQ(parse<Shape>(text), Shape{6});
  EXPECT_EQ(parse<Shape>("-1"), Shape{-1});
}

TEST(ParamText, ShapeMayBeEmptyOrUnknown) {
  EXPECT_EQ(parse<Shape>("()"), Shape::scalar());
  EXPECT_EQ(parse<Shape>("( )"), Shape::scalar());
  EXPECT_FALSE(parse<Shape>("None").rank_known());
}

TEST(ParamText, ShapeRefusesOtherForms) {
  expect_refused<Shape>({"3,2", "{3,2}", "(3.0,2)", "(3 2)", "(3,,2)", "(3,2", "(,3,2)", "(3l,2)",
                         "+6", "", "(None,2)", "((1,2))"});
}

TEST(ParamText, OptionalsTakeNoneWithBlanksAfterIt) {
  EXPECT_EQ(parse<std::optional<int32_t>>("None"), std::nullopt);
  EXPECT_EQ(parse<std::optional<int32_t>>("None "), std::nullopt);
  EXPECT_EQ(parse<std::optional<int32_t>>("-1"), -1);
  EXPECT_EQ(parse<std::optional<Shape>>("None"), std::nullopt);
  EXPECT_EQ(parse<std::optional<Shape>>(" 1"), Shape{1});
  EXPECT_EQ(parse<std::optional<bool>>("1"), true);
  EXPECT_EQ(parse<std::optional<double>>("0.5"), 0.5);
  expect_refused<std::optional<int32_t>>({"none", " None", "1.0", "", "Nonesuch"});
  expect_refused<std::optional<double>>({"none", ""});
}

TEST(ParamText, ListsNestAndMayHoldNone) {
  using Shapes = std::vector<Shape>;
  EXPECT_EQ(parse<Shapes>("((1,2),(3,))"), (Shapes{{1, 2}, {3}}));
  EXPECT_EQ(parse<std::vector<double>>("[0.5, 2]"), (std::vector<double>{0.5, 2}));
  EXPECT_EQ(parse<std::vector<double>>("1.5"), std::vector<double>{1.5});
  const std::vector<std::optional<int64_t>> slice{std::nullopt, 3};
  EXPECT_EQ(parse<std::vector<std::optional<int64_t>>>("(None, 3)"), slice);
  EXPECT_EQ(parse<std::vector<std::optional<int64_t>>>("[None, 3L]"), slice);
}

TEST(ParamText, NumbersPrintAsTheAbiShowsThem) {
  EXPECT_EQ(ParamText<float>::print(0.001f), "0.00100000005");
  EXPECT_EQ(ParamText<float>::print(0.5f), "0.5");
  EXPECT_EQ(ParamText<float>::print(-1.0f), "-1");
  EXPECT_EQ(ParamText<double>::print(0.001f), "0.0010000000474974513");
  EXPECT_EQ(ParamText<double>::print(1e-15), "1.0000000000000001e-15");
  EXPECT_EQ(ParamText<double>::print(1e-8f), "9.9999999392252903e-09");
  EXPECT_EQ(ParamText<bool>::print(true), "1");
  EXPECT_EQ(ParamText<int32_t>::print(-2), "-2");
}

TEST(ParamText, ListsPrintInSquareBracketsWithSixDigits) {
  EXPECT_EQ(ParamText<Shape>::print(Shape{0, 0}), "[0,0]");
  EXPECT_EQ(ParamText<Shape>::print(Shape::scalar()), "[]");
  EXPECT_EQ(ParamText<Shape>::print(Shape()), "None");
  EXPECT_EQ(ParamText<std::vector<float>>::print({0.1f, 0.5f, 1}), "[0.1,0.5,1]");
  EXPECT_EQ(ParamText<std::optional<int32_t>>::print(std::nullopt), "None");
}

// Whatever the text: a value or a ParamError, and a value reads back from its own print.
template <class T>
void expect_no_surprise(const std::string& text) {
  try {
    const std::string printed = ParamText<T>::print(ParamText<T>::parse(text));
    EXPECT_EQ(ParamText<T>::print(ParamText<T>::parse(printed)), printed) << '"' << text << '"';
  } catch (const ParamError&) {
  } catch (const Error& error) {
    EXPECT_EQ(error.tag(), "Shape") << text;  // more dimensions than a shape can have
  }
}

TEST(ParamText, RandomTextsGiveValuesOrErrors) {
  constexpr uint32_t kSeed = 20240607;
  constexpr int kTexts = 20'000;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  const std::string_view alphabet = "()[],, -+.0123456789eELNoneinfaTrue\0\xff";
  for (int i = 0; i < kTexts; ++i) {
    std::string text;
    for (uint32_t n = random() % 12; n > 0; --n) text += alphabet[random() % alphabet.size()];
    expect_no_surprise<int32_t>(text);
    expect_no_surprise<uint64_t>(text);
    expect_no_surprise<double>(text);
    expect_no_surprise<bool>(text);
    expect_no_surprise<Shape>(text);
    expect_no_surprise<std::optional<Shape>>(text);
    expect_no_surprise<std::optional<int64_t>>(text);
    expect_no_surprise<std::vector<Shape>>(text);
    expect_no_surprise<std::vector<std::optional<int64_t>>>(text);
  }
  expect_no_surprise<Shape>(std::string(1'000'000, '('));
  expect_no_surprise<Shape>("(" + std::string(1'000'000, ',') + ")");
  expect_no_surprise<std::vector<Shape>>(std::string(1000, '(') + std::string(1000, ')'));
}

}  // namespace
}  // namespace mxnet
