// SPDX-License-Identifier: Apache-2.0
// Composition, names and attributes of symbols.
#include "graph/symbol.h"

#include <gtest/gtest.h>

#include "graph/load.h"
#include "graph/symbol_attributes.h"
#include "op/op_def.h"
#include "symbols.h"

namespace mxnet::graph_test {
namespace {

using Names = std::vector<std::string>;
constexpr auto kAll = Symbol::Inputs::kAll;
constexpr auto kArguments = Symbol::Inputs::kArguments;
constexpr auto kAuxiliary = Symbol::Inputs::kAuxiliary;

Symbol dense(const Symbol& data, std::string name) {
  return call("FullyConnected", std::move(name), {data}, {{"num_hidden", "3"}});
}

TEST(Compose, MissingInputsBecomeVariablesWithTheAttributesOfTheOperator) {
  const Symbol fc = dense(var("data"), "fc");
  EXPECT_EQ(fc.list_inputs(kArguments), (Names{"data", "fc_weight", "fc_bias"}));
  EXPECT_EQ(fc.list_outputs(), Names{"fc_output"});
  const Symbol weight = fc.input_symbols()[1];
  EXPECT_EQ(get_attr(weight, "num_hidden"), "3");
}

TEST(Compose, ParametersDecideWhichInputsThereAre) {
  const Symbol fc =
      call("FullyConnected", "fc", {var("x")}, {{"num_hidden", "3"}, {"no_bias", "1"}});
  EXPECT_EQ(fc.list_inputs(kArguments), (Names{"x", "fc_weight"}));
}

TEST(Compose, InputsByName) {
  const Symbol fc = call_by_name("FullyConnected", "fc", {{"bias", var("b")}, {"data", var("x")}},
                                 {{"num_hidden", "3"}});
  EXPECT_EQ(fc.list_inputs(kArguments), (Names{"x", "fc_weight", "b"}));
}

TEST(Compose, UnknownNameIsAnErrorThatListsTheKnownOnes) {
  const std::string message = message_of([] {
    call_by_name("FullyConnected", "fc", {{"nosuch", var("x")}}, {{"num_hidden", "3"}});
  });
  EXPECT_NE(message.find("nosuch"), message.npos) << message;
  EXPECT_NE(message.find("data, weight, bias"), message.npos) << message;
}

TEST(Compose, TooManyInputsAreAnError) {
  const std::string message = message_of([] { call("exp", "e", {var("x"), var("y")}); });
  EXPECT_NE(message.find("given 2 inputs, expected at most 1"), message.npos) << message;
}

TEST(Compose, NumberOfInputsFollowsTheCall) {
  const Symbol joined = call("Concat", "c", {var("a"), var("b"), var("c")}, {{"dim", "0"}});
  EXPECT_EQ(joined.list_inputs(kAll), (Names{"a", "b", "c"}));
  EXPECT_EQ(get_attr(joined, "num_args"), "3");
}

TEST(Compose, ASymbolOfSeveralOutputsIsNoInput) {
  const Symbol parts = call("SliceChannel", "s", {var("x")}, {{"num_outputs", "2"}});
  EXPECT_EQ(parts.list_outputs(), (Names{"s_output0", "s_output1"}));
  const std::string message = message_of([&] { call("exp", "e", {parts}); });
  EXPECT_NE(message.find("2 outputs"), message.npos) << message;
}

TEST(Compose, AFailedCallLeavesTheSymbolAsItWas) {
  Symbol atomic = Symbol::atomic(Registry::get().at("exp"), {});
  const Symbol x = var("x"), y = var("y");
  const Symbol* both[] = {&x, &y};
  const std::string message = message_of([&] { atomic.compose("e", {}, both); });
  EXPECT_NE(message.find("given 2 inputs, expected at most 1"), message.npos) << message;
  const Symbol* one[] = {&x};
  atomic.compose("e", {}, one);
  EXPECT_EQ(atomic.list_inputs(kAll), Names{"x"});
}

TEST(Compose, ANetworkIsAppliedToOtherInputs) {
  const Symbol net = dense(var("x"), "fc");
  Symbol applied = net.copy();
  const Symbol other = call("exp", "e", {var("z")});
  const std::string_view keys[] = {"x"};
  const Symbol* args[] = {&other};
  applied.compose("again", keys, args);
  EXPECT_EQ(applied.list_inputs(kArguments), (Names{"z", "fc_weight", "fc_bias"}));
  EXPECT_EQ(applied.list_outputs(), Names{"again_output"});
  EXPECT_EQ(net.list_inputs(kArguments), (Names{"x", "fc_weight", "fc_bias"}));
}

TEST(Compose, AVariableAppliedToAnotherValueIsThatValue) {
  Symbol x = var("x");
  const Symbol e = call("exp", "e", {var("z")});
  const std::string_view keys[] = {"x"};
  const Symbol* args[] = {&e};
  x.compose("", keys, args);
  EXPECT_EQ(x.list_outputs(), Names{"e_output"});
}

TEST(Compose, ANumberOfInputsBeyondReasonIsAnError) {
  const std::string message = message_of([] {
    call("Concat", "c", {var("a")}, {{"num_args", "1000000000"}, {"dim", "0"}});
  });
  EXPECT_NE(message.find("1000000000"), message.npos) << message;
}

TEST(AuxiliaryStates, AreTheVariablesThatAnOperatorWrites) {
  const Symbol bn = call("_test_norm", "bn", {var("data")});
  EXPECT_EQ(bn.list_inputs(kArguments), (Names{"data", "bn_gamma"}));
  EXPECT_EQ(bn.list_inputs(kAuxiliary), (Names{"bn_moving_mean", "bn_moving_var"}));
  EXPECT_EQ(bn.list_outputs(), Names{"bn_output"});
}

TEST(AuxiliaryStates, StartAsTheOperatorNeedsThem) {
  if (Registry::get().find("LeakyReLU") == nullptr) GTEST_SKIP() << "LeakyReLU is not there yet";
  const Symbol net = call("LeakyReLU", "p", {var("x")}, {{"act_type", "prelu"}});
  EXPECT_EQ(get_attr(net.input_symbols()[1], "__init__"), "[\"Constant\", {\"value\": 0.25}]");
  Symbol own = var("own");
  set_attrs(&own, {{"__init__", "[\"zero\", {}]"}});
  const Symbol given = call("LeakyReLU", "p", {var("x"), own}, {{"act_type", "prelu"}});
  EXPECT_EQ(get_attr(given.input_symbols()[1], "__init__"), "[\"zero\", {}]");
  const Symbol larger =
      call("UpSampling", "u", {var("x")},
           {{"scale", "2"}, {"sample_type", "bilinear"}, {"num_filter", "3"}, {"num_args", "2"}});
  EXPECT_EQ(get_attr(larger.input_symbols()[1], "__init__"), "[\"bilinear\", {}]");
}

TEST(AuxiliaryStates, ReadersKnowHowOftenAStateHasBeenWritten) {
  const Symbol mean = var("m");
  const Symbol first = call_by_name("_test_norm", "a", {{"data", var("x")}, {"moving_mean", mean}});
  const Symbol second = call_by_name("_test_norm", "b", {{"data", first}, {"moving_mean", mean}});
  EXPECT_EQ(first.outputs()[0].node->inputs[2].version, 1);
  EXPECT_EQ(second.outputs()[0].node->inputs[2].version, 2);
  EXPECT_EQ(second.outputs()[0].node->inputs[3].version, 1);
}

TEST(Attributes, HiddenKeysAnswerToBothSpellings) {
  Symbol fc = dense(var("data"), "fc");
  set_attrs(&fc, {{"lr_mult", "2"}});
  EXPECT_EQ(get_attr(fc, "lr_mult"), "2");
  EXPECT_EQ(get_attr(fc, "__lr_mult__"), "2");
  Names keys;
  for (const ListedAttr& attr : list_attrs_shallow(fc, BareKeys::kYes)) keys.push_back(attr.key);
  EXPECT_EQ(keys, (Names{"num_hidden", "__lr_mult__", "lr_mult"}));
}

TEST(Attributes, AreSharedByAllSymbolsOfANode) {
  Symbol x = var("x");
  const Symbol e = call("exp", "e", {x});
  set_attrs(&x, {{"__shape__", "(2, 3)"}});
  EXPECT_EQ(get_attr(e.children(), "__shape__"), "(2, 3)");
}

TEST(Attributes, AParameterThatTheOperatorRefusesChangesNothing) {
  Symbol fc = dense(var("data"), "fc");
  const std::string message = message_of([&] {
    set_attrs(&fc, {{"num_hidden", "7"}, {"nosuch", "1"}});
  });
  EXPECT_NE(message.find("nosuch"), message.npos) << message;
  EXPECT_EQ(get_attr(fc, "num_hidden"), "3");
  EXPECT_EQ(get_attr(fc, "op_name"), "FullyConnected");
  EXPECT_FALSE(get_attr(fc, "nosuch"));
}

TEST(Attributes, OutputsOfSeveralNodesHaveNoneOfTheirOwn) {
  const Symbol a = var("a"), b = var("b");
  const Symbol* both[] = {&a, &b};
  Symbol group = Symbol::group(both);
  EXPECT_FALSE(get_attr(group, "name"));
  const std::string message = message_of([&] { set_attrs(&group, {{"__x__", "1"}}); });
  EXPECT_NE(message.find("outputs of several nodes"), message.npos) << message;
}

TEST(Attributes, KeysForInputsBelongOnVariables) {
  const std::string message = message_of([] {
    Symbol::atomic(Registry::get().at("FullyConnected"),
                   {{"num_hidden", "3"}, {"weight_lr_mult", "1.2"}});
  });
  EXPECT_NE(message.find("Variable(..., lr_mult=1.2)"), message.npos) << message;
}

TEST(Symbol, InternalsAreAllValuesInOrder) {
  const Symbol net = call("_test_norm", "bn", {dense(var("data"), "fc")});
  EXPECT_EQ(net.internals().list_outputs(),
            (Names{"data", "fc_weight", "fc_bias", "fc_output", "bn_gamma", "bn_moving_mean",
                   "bn_moving_var", "bn_output"}));
}

TEST(Symbol, ChildrenAreTheInputsOfTheOutputs) {
  const Symbol fc = dense(var("data"), "fc");
  EXPECT_EQ(fc.children().list_outputs(), (Names{"data", "fc_weight", "fc_bias"}));
  EXPECT_TRUE(fc.input_symbols()[0].children().outputs().empty());
}

TEST(Symbol, ACopyHasNodesOfItsOwn) {
  const Symbol fc = dense(var("data"), "fc");
  Symbol copy = fc.copy();
  set_attrs(&copy, {{"num_hidden", "9"}});
  EXPECT_EQ(get_attr(fc, "num_hidden"), "3");
  EXPECT_EQ(copy.list_inputs(kAll), fc.list_inputs(kAll));
}

TEST(Symbol, AnOutputThatIsNotThereIsAnError) {
  const std::string message = message_of([] { static_cast<void>(var("x").output(1)); });
  EXPECT_NE(message.find("given output 1, expected one of the 1"), message.npos) << message;
}

TEST(Symbol, TextShowsNodesInputsAndAttributes) {
  const std::string text = dense(var("data"), "fc").debug_text();
  for (const char* part : {"output[0]=fc(0)", "Variable:fc_weight", "Op:FullyConnected, Name=fc",
                           "arg[2]=fc_bias(0) version=0", "num_hidden=3"})
    EXPECT_NE(text.find(part), text.npos) << text;
}

TEST(Symbol, AnUncomposedOperatorListsItsOutputOnly) {
  const Symbol atomic = Symbol::atomic(Registry::get().at("_test_norm"), {});
  EXPECT_TRUE(atomic.list_inputs(kAll).empty());
  EXPECT_EQ(atomic.list_outputs(), Names{"output"});
}

TEST(Compose, AnOperatorHasItsOutputsBeforeItIsComposed) {
  const Symbol parts =
      Symbol::atomic(Registry::get().at("SliceChannel"), {{"num_outputs", "3"}, {"axis", "0"}});
  EXPECT_EQ(parts.list_outputs(), (Names{"output0", "output1", "output2"}));
}

TEST(Compose, ArraysThatAreShownAsSymbolsAreNoGraphs) {
  const Symbol pooled = call("_contrib_DeformablePSROIPooling", "p", {var("x"), var("rois")},
                             {{"spatial_scale", "1"},
                              {"output_dim", "2"},
                              {"group_size", "2"},
                              {"pooled_size", "2"},
                              {"no_trans", "True"}});
  EXPECT_EQ(pooled.list_inputs(kArguments), (Names{"x", "rois"}));
  const Symbol plain = call("_contrib_PSROIPooling", "p", {var("x"), var("rois")},
                            {{"spatial_scale", "1"}, {"output_dim", "2"}, {"pooled_size", "2"}});
  EXPECT_EQ(plain.list_inputs(kArguments), (Names{"x", "rois"}));
}

TEST(Compose, WithoutANameAnOperatorWithoutInputsKeepsItsOwn) {
  Symbol ones = call("_ones", "o", {}, {{"shape", "(2,)"}});
  ones.compose("", {}, {});
  EXPECT_EQ(ones.list_outputs(), Names{"o_output"});
}

}  // namespace
}  // namespace mxnet::graph_test
