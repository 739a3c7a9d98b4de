// SPDX-License-Identifier: Apache-2.0
// The older spelling of the symbol functions, with the values they give.
#include <gtest/gtest.h>

#include <string>

#include "symbols.h"

namespace mxnet::c_test {
namespace {

// A network with an auxiliary state, made by these functions alone.
Sym norm() {
  Sym x, bn;
  EXPECT_EQ(NNSymbolCreateVariable("x", x.out()), 0) << MXGetLastError();
  const char *keys[] = {"eps"}, *values[] = {"0.5"};
  EXPECT_EQ(NNSymbolCreateAtomicSymbol(op("BatchNorm"), 1, keys, values, bn.out()), 0)
      << MXGetLastError();
  SymbolHandle inputs[] = {x.get()};
  const char* inputs_by_name[] = {"data"};
  EXPECT_EQ(NNSymbolCompose(bn.get(), "bn", 1, inputs_by_name, inputs), 0) << MXGetLastError();
  return bn;
}

Names input_names(const Sym& sym, int option) {
  nn_uint size = 0;
  const char** texts = nullptr;
  EXPECT_EQ(NNSymbolListInputNames(sym.get(), option, &size, &texts), 0) << MXGetLastError();
  return {texts, texts + size};
}

TEST(NnSymbol, InputsAreAllOrArgumentsOrStates) {
  const Sym bn = norm();
  const Names arguments{"x", "bn_gamma", "bn_beta"}, states{"bn_moving_mean", "bn_moving_var"};
  Names all = arguments;
  all.insert(all.end(), states.begin(), states.end());
  EXPECT_EQ(input_names(bn, 0), all);
  EXPECT_EQ(input_names(bn, 1), arguments);
  EXPECT_EQ(input_names(bn, 2), states);
  nn_uint size = 0;
  const char** texts = nullptr;
  EXPECT_EQ(NNSymbolListInputNames(bn.get(), 3, &size, &texts), -1);
  EXPECT_TRUE(error_has("3")) << MXGetLastError();

  SymbolHandle* handles = nullptr;
  MX_OK(NNSymbolListInputVariables(bn.get(), 2, &size, &handles));
  ASSERT_EQ(size, 2u);
  const Sym mean(handles[0]), variance(handles[1]);
  EXPECT_EQ(names(NNSymbolListOutputNames, variance), Names{"bn_moving_var"});
}

TEST(NnSymbol, OutputsGroupsInternalsAndChildren) {
  const Sym bn = norm(), y = var("y");
  EXPECT_EQ(names(NNSymbolListOutputNames, bn), Names{"bn_output"});
  SymbolHandle members[] = {y.get(), bn.get()};
  Sym group, second, internals, children;
  MX_OK(NNSymbolCreateGroup(2, members, group.out()));
  nn_uint count = 0;
  MX_OK(NNSymbolGetNumOutputs(group.get(), &count));
  EXPECT_EQ(count, 2u);
  MX_OK(NNSymbolGetOutput(group.get(), 1, second.out()));
  EXPECT_EQ(names(NNSymbolListOutputNames, second), Names{"bn_output"});
  MX_OK(NNSymbolGetChildren(second.get(), children.out()));
  EXPECT_EQ(names(NNSymbolListOutputNames, children),
            (Names{"x", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"}));
  MX_OK(NNSymbolGetInternals(second.get(), internals.out()));
  const Names values = names(NNSymbolListOutputNames, internals);
  ASSERT_GE(values.size(), 6u);
  EXPECT_EQ(values.front(), "x");
  EXPECT_EQ(values[5], "bn_output");
}

TEST(NnSymbol, AttributesAreSetAndReadOnTheOwnNodes) {
  const Sym bn = norm();
  Sym copy;
  MX_OK(NNSymbolCopy(bn.get(), copy.out()));
  const char *keys[] = {"__lr_mult__", "__colour__"}, *values[] = {"2", "red"};
  MX_OK(NNSymbolSetAttrs(copy.get(), 2, keys, values));
  const char* value = nullptr;
  int found = 0;
  MX_OK(NNSymbolGetAttr(copy.get(), "__colour__", &value, &found));
  ASSERT_EQ(found, 1);
  EXPECT_STREQ(value, "red");
  MX_OK(NNSymbolGetAttr(bn.get(), "__colour__", &value, &found));
  EXPECT_EQ(found, 0);
  MX_OK(NNSymbolGetAttr(copy.get(), "eps", &value, &found));
  ASSERT_EQ(found, 1);
  EXPECT_STREQ(value, "0.5");
}

TEST(NnSymbol, PrintingNamesEveryNode) {
  const Sym bn = norm();
  const char* text = nullptr;
  MX_OK(NNSymbolPrint(bn.get(), &text));
  for (const char* part : {"Variable:x", "Variable:bn_gamma", "Op:BatchNorm, Name=bn"})
    EXPECT_NE(std::string(text).find(part), std::string::npos) << part << " in\n" << text;
}

TEST(NnGraph, KeepsTextsAndItsSymbol) {
  const Sym bn = norm();
  GraphHandle graph = nullptr, loaded = nullptr;
  MX_OK(NNGraphCreate(bn.get(), &graph));
  const char* json = "unset";
  int found = -1;
  MX_OK(NNGraphGetJSONAttr(graph, "json", &json, &found));
  EXPECT_EQ(found, 0);
  MX_OK(NNGraphSetJSONAttr(graph, "colour", "[\"str\", \"red\"]"));
  MX_OK(NNGraphGetJSONAttr(graph, "colour", &json, &found));
  ASSERT_EQ(found, 1);
  EXPECT_STREQ(json, "[\"str\", \"red\"]");
  MX_OK(NNGraphSetNodeEntryListAttr_(graph, "values", bn.get()));

  // A graph takes the network of its text.
  const Sym other = dense();
  MX_OK(MXSymbolSaveToJSON(other.get(), &json));
  MX_OK(NNGraphSetJSONAttr(graph, "json", json));
  const char* load[] = {"LoadJSON"};
  MX_OK(NNGraphApplyPasses(graph, 1, load, &loaded));
  Sym before, after;
  MX_OK(NNGraphGetSymbol(graph, before.out()));
  MX_OK(NNGraphGetSymbol(loaded, after.out()));
  EXPECT_EQ(names(NNSymbolListOutputNames, before), Names{"bn_output"});
  EXPECT_EQ(names(NNSymbolListOutputNames, after), Names{"fc_output"});
  MX_OK(NNGraphFree(loaded));
  MX_OK(NNGraphFree(graph));
}

TEST(NnErrors, TheTextThatIsSetIsTheOneThatIsRead) {
  NNAPISetLastError("made up");
  EXPECT_STREQ(NNGetLastError(), "made up");
  EXPECT_STREQ(MXGetLastError(), "made up");
  OpHandle none = nullptr;
  EXPECT_EQ(NNGetOpHandle("no such operator", &none), -1);
  EXPECT_NE(std::string(NNGetLastError()).find("no such operator"), std::string::npos);
}

}  // namespace
}  // namespace mxnet::c_test
