// SPDX-License-Identifier: Apache-2.0
// What the blocks of operators make of their statements: type texts, parsing, names, errors.
#include "op/op_builder.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "op/params/parsed_attrs.h"

namespace mxnet {
namespace {

enum class Mode : uint8_t { kAverage, kMaximum };

struct BuilderParams {
  int32_t axis, width, count;
  float eps;
  double scale;
  int64_t length;
  bool keep;
  std::optional<int32_t> optional_axis;
  Shape shape;
  std::optional<Shape> optional_shape;
  std::vector<float> ratios;
  std::string label;
  DType dtype;
  Mode mode;
};

MX_OP(_test_builder, BuilderParams)
.doc("Everything that a block can say.")
    .alias("_test_builder_alias")
    .inputs("args", "Any number of arrays.", &BuilderParams::count, "num_args")
    .output("first")
    .param("num_args", &BuilderParams::count, "How many.")
    .param("axis", &BuilderParams::axis, -1, "An int with a default.")
    .param("width", &BuilderParams::width, 4, "An int with bounds.")
    .range<int32_t>(1, 8)
    .param("eps", &BuilderParams::eps, 0.001f, "A float.")
    .param("scale", &BuilderParams::scale, 1e-15, "A double.")
    .param("length", &BuilderParams::length, 2, "A long.")
    .param("keep", &BuilderParams::keep, true, "A boolean.")
    .param("optional_axis", &BuilderParams::optional_axis, std::nullopt, "An int or None.")
    .param("shape", &BuilderParams::shape, Shape{0, 0}, "A shape.")
    .param("optional_shape", &BuilderParams::optional_shape, std::nullopt, "A shape or None.")
    .param("ratios", &BuilderParams::ratios, std::vector<float>{0.5f, 1, 2}, "Floats.")
    .param("label", &BuilderParams::label, "even", "A string.")
    .dtype_param("dtype", &BuilderParams::dtype, kFloating, true, "None", "A type.")
    .choice("mode", &BuilderParams::mode, {{"max", Mode::kMaximum}, {"avg", Mode::kAverage}}, "max",
            "A word.")
    .infer([](const BuilderParams&, Infer& infer) { infer.one_dtype(); })
    .cpu([](const BuilderParams&, KernelContext&) {});

const OpDef& op() { return Registry::get().at("_test_builder"); }

BuilderParams parse(std::vector<std::pair<std::string_view, std::string_view>> attrs) {
  attrs.emplace_back("num_args", "2");
  return *static_cast<const BuilderParams*>(op().parse(attrs).get());
}

std::string error_of(std::vector<std::pair<std::string_view, std::string_view>> attrs) {
  try {
    op().parse(attrs);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kValue);
    EXPECT_EQ(error.tag(), "_test_builder");
    return error.message();
  }
  return "no error";
}

std::string type_of(std::string_view name) {
  for (const ParamField& field : op().schema().fields())
    if (field.name == name) return field.type;
  return "no such parameter";
}

TEST(Builder, TypeTextsAreThoseOfTheAbi) {
  EXPECT_EQ(type_of("num_args"), "int, required");
  EXPECT_EQ(type_of("axis"), "int, optional, default='-1'");
  EXPECT_EQ(type_of("eps"), "float, optional, default=0.00100000005");
  EXPECT_EQ(type_of("scale"), "double, optional, default=1.0000000000000001e-15");
  EXPECT_EQ(type_of("length"), "long, optional, default=2");
  EXPECT_EQ(type_of("keep"), "boolean, optional, default=1");
  EXPECT_EQ(type_of("optional_axis"), "int or None, optional, default='None'");
  EXPECT_EQ(type_of("shape"), "Shape(tuple), optional, default=[0,0]");
  EXPECT_EQ(type_of("optional_shape"), "Shape or None, optional, default=None");
  EXPECT_EQ(type_of("ratios"), "tuple of <float>, optional, default=[0.5,1,2]");
  EXPECT_EQ(type_of("label"), "string, optional, default='even'");
  EXPECT_EQ(type_of("dtype"),
            "{None, 'bfloat16', 'float16', 'float32', 'float64'},optional, default='None'");
  EXPECT_EQ(type_of("mode"), "{'avg', 'max'},optional, default='max'");
}

TEST(Builder, ParametersStartAtTheirDefaults) {
  const BuilderParams params = parse({});
  EXPECT_EQ(params.axis, -1);
  EXPECT_EQ(params.count, 2);
  EXPECT_EQ(params.shape, (Shape{0, 0}));
  EXPECT_EQ(params.optional_axis, std::nullopt);
  EXPECT_EQ(params.dtype, DType::kUnknown);
  EXPECT_EQ(params.mode, Mode::kMaximum);
  EXPECT_TRUE(params.keep);
}

TEST(Builder, GivenTextsReplaceDefaults) {
  const BuilderParams params = parse({{"axis", "3"}, {"mode", "avg"}, {"dtype", "float16"}});
  EXPECT_EQ(params.axis, 3);
  EXPECT_EQ(params.mode, Mode::kAverage);
  EXPECT_EQ(params.dtype, DType::kFloat16);
}

TEST(Builder, WordsMustMatchExactly) {
  EXPECT_NE(error_of({{"num_args", "1"}, {"mode", "Max"}}).find("given 'Max' for parameter mode"),
            std::string::npos);
  EXPECT_NE(error_of({{"num_args", "1"}, {"dtype", "float64 "}}), "no error");
}

TEST(Builder, UnknownKeyNamesTheKnownOnes) {
  const std::string error = error_of({{"num_args", "1"}, {"foo", "2"}});
  EXPECT_NE(error.find("'foo' = '2'"), std::string::npos) << error;
  EXPECT_NE(error.find("num_args, axis, width"), std::string::npos) << error;
}

struct RenamedParams {
  int32_t axis;
};

MX_OP(_test_renamed, RenamedParams)
.doc("A parameter that op info shows under another name than the parser takes.")
    .input("data", "The array.")
    .listed("dim", "int, optional, default='1'", "Shown only.")
    .param("axis", &RenamedParams::axis, 0, "Taken only.")
    .unlisted()
    .infer([](const RenamedParams&, Infer& infer) { infer.in(0).same_as(infer.out(0)); });

TEST(Builder, NamesThatAreShownOnlyAreRefused) {
  const OpDef& op = Registry::get().at("_test_renamed");
  const auto parse_one = [&](std::string_view key) {
    const std::pair<std::string_view, std::string_view> attr{key, "2"};
    return std::static_pointer_cast<const RenamedParams>(op.parse(AttrList(&attr, 1)))->axis;
  };
  EXPECT_EQ(parse_one("axis"), 2);
  EXPECT_THROW(parse_one("dim"), Error);
  EXPECT_TRUE(op.schema().fields()[0].listed);
  EXPECT_FALSE(op.schema().fields()[1].listed);
}

TEST(Builder, HiddenKeysAlwaysPass) { EXPECT_EQ(parse({{"__ctx_group__", "dev1"}}).axis, -1); }

TEST(Builder, MissingRequiredKeyIsNamed) {
  EXPECT_EQ(error_of({}), "Required parameter num_args of int is not presented");
}

TEST(Builder, BoundsSayWhatTheyAllow) {
  EXPECT_NE(error_of({{"num_args", "1"}, {"width", "0"}})
                .find("value 0 for Parameter width should be greater equal to 1"),
            std::string::npos);
  EXPECT_NE(error_of({{"num_args", "1"}, {"width", "9"}})
                .find("value 9 for Parameter width should be smaller equal to 8"),
            std::string::npos);
  EXPECT_EQ(parse({{"width", "8"}}).width, 8);
}

TEST(Builder, NamesOfVariableInputsAndOutputs) {
  const ParamsPtr params =
      parse_attrs(op(),
                  std::array<std::pair<std::string_view, std::string_view>, 1>{{{"num_args", "3"}}})
          ->params();
  EXPECT_EQ(op().num_inputs(params.get()), 3);
  EXPECT_EQ(op().input_name(params.get(), 2), "args2");
  EXPECT_EQ(op().output_name(params.get(), 0), "first");
  EXPECT_EQ(op().key_var_num_args(), "num_args");
}

TEST(ParsedAttrs, SameTextsGiveTheSameParameters) {
  using Text = std::pair<std::string_view, std::string_view>;
  const std::array<Text, 2> a{{{"num_args", "2"}, {"axis", "1"}}};
  const std::string key = "axis", text = "1";  // other addresses, same texts
  const std::array<Text, 2> b{{{"num_args", "2"}, {key, text}}};
  const std::array<Text, 2> c{{{"num_args", "2"}, {"axis", "2"}}};
  EXPECT_EQ(parse_attrs(op(), a).get(), parse_attrs(op(), b).get());
  EXPECT_NE(parse_attrs(op(), a).get(), parse_attrs(op(), c).get());
  EXPECT_EQ(parse_attrs(op(), c)->attrs()[1].second, "2");
}

TEST(ParsedAttrs, BoundariesBetweenTextsCount) {
  using Text = std::pair<std::string_view, std::string_view>;
  const std::array<Text, 2> a{{{"num_args", "12"}, {"label", ""}}};
  const std::array<Text, 2> b{{{"num_args", "1"}, {"label", "2"}}};
  EXPECT_NE(parse_attrs(op(), a).get(), parse_attrs(op(), b).get());
}

TEST(ParsedAttrs, ErrorsAreNotCached) {
  const std::array<std::pair<std::string_view, std::string_view>, 1> bad{{{"num_args", "x"}}};
  EXPECT_THROW(parse_attrs(op(), bad), Error);
  EXPECT_THROW(parse_attrs(op(), bad), Error);
}

TEST(ParsedAttrs, LongTextsAreParsedEachTime) {
  const std::string label(10000, 'x');
  const std::array<std::pair<std::string_view, std::string_view>, 2> attrs{
      {{"num_args", "1"}, {"label", label}}};
  const ParsedAttrsRef first = parse_attrs(op(), attrs), second = parse_attrs(op(), attrs);
  EXPECT_EQ(first->attrs()[1].second, label);
  EXPECT_NE(first.get(), second.get());
}

TEST(Registry, FindsNamesAndAliases) {
  EXPECT_EQ(Registry::get().find("_test_builder_alias"), &op());
  EXPECT_EQ(Registry::get().find("_test_no_such"), nullptr);
  const std::vector<std::string> names = Registry::get().names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "_test_builder_alias"));
}

TEST(Registry, UnknownNameIsAnErrorThatNamesTheNearest) {
  try {
    Registry::get().at("_test_buidler");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("no such operator"), std::string::npos);
    EXPECT_NE(error.message().find("did you mean '_test_builder'"), std::string::npos)
        << error.message();
  }
}

TEST(Registry, SecondRegistrationIsRefused) {
  EXPECT_THROW(Registry::get().add("_test_builder"), Error);
  EXPECT_THROW(Registry::get().add_alias(Registry::get().add("_test_other"), "_test_builder"),
               Error);
}

}  // namespace
}  // namespace mxnet
