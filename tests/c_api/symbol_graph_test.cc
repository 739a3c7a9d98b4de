// SPDX-License-Identifier: Apache-2.0
// Symbols made of other symbols, and what is known of their shapes and types, as a C program sees
// them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "symbols.h"

namespace mxnet::c_test {
namespace {

std::string json_of(const Sym& sym) {
  const char* text = nullptr;
  EXPECT_EQ(MXSymbolSaveToJSON(sym.get(), &text), 0) << MXGetLastError();
  return text == nullptr ? "" : text;
}

// exp(x) twice, once more than needed, and their sum.
Sym sum_of_two() {
  const Sym x = var("x");
  const Sym a = call_symbol("exp", "a", {x.get()}), b = call_symbol("exp", "b", {x.get()});
  return call_symbol("elemwise_add", "s", {a.get(), b.get()});
}

TEST(SymbolParts, AGroupHasTheOutputsOfAll) {
  const Sym x = var("x"), fc = dense();
  SymbolHandle members[] = {x.get(), fc.get()};
  Sym group;
  MX_OK(MXSymbolCreateGroup(2, members, group.out()));
  EXPECT_EQ(names(MXSymbolListOutputs, group), (Names{"x", "fc_output"}));
  Sym second;
  MX_OK(MXSymbolGetOutput(group.get(), 1, second.out()));
  EXPECT_EQ(names(MXSymbolListOutputs, second), Names{"fc_output"});
  Sym none;
  EXPECT_EQ(MXSymbolGetOutput(group.get(), 2, none.out()), -1);
  EXPECT_TRUE(error_has("2")) << MXGetLastError();
}

TEST(SymbolParts, ComposingByNameReplacesVariables) {
  const Sym fc = dense(), y = var("y");
  const Sym doubled = call_symbol("elemwise_add", "d", {y.get(), y.get()});
  Sym copy;
  MX_OK(MXSymbolCopy(fc.get(), copy.out()));
  const char* keys[] = {"x"};
  SymbolHandle values[] = {doubled.get()};
  MX_OK(MXSymbolCompose(copy.get(), "fc2", 1, keys, values));
  EXPECT_EQ(names(MXSymbolListArguments, copy), (Names{"y", "fc_weight", "fc_bias"}));
  EXPECT_EQ(names(MXSymbolListArguments, fc), (Names{"x", "fc_weight", "fc_bias"}));
}

TEST(SymbolParts, ComposingWithWhatIsNoInputIsAnError) {
  const Sym x = var("x"), y = var("y");
  const auto compose = [&](uint32_t count, const char** keys) {
    Sym bare;
    EXPECT_EQ(MXSymbolCreateAtomicSymbol(op("exp"), 0, nullptr, nullptr, bare.out()), 0);
    SymbolHandle values[] = {x.get(), y.get()};
    return MXSymbolCompose(bare.get(), "e", count, keys, values);
  };
  const char* unknown[] = {"nosuch"};
  EXPECT_EQ(compose(1, unknown), -1);
  EXPECT_TRUE(error_has("nosuch")) << MXGetLastError();
  EXPECT_EQ(compose(2, nullptr), -1);
  EXPECT_TRUE(error_has("2")) << MXGetLastError();
  MX_OK(compose(1, nullptr));
}

TEST(SymbolParts, ACopyHasNodesOfItsOwnAndAShallowOneHasNot) {
  const Sym x = var("x");
  Sym deep, shallow;
  MX_OK(MXSymbolCopy(x.get(), deep.out()));
  MX_OK(MXShallowCopySymbol(x.get(), shallow.out()));
  MX_OK(MXSymbolSetAttr(x.get(), "colour", "red"));
  const char* value = nullptr;
  int found = -1;
  MX_OK(MXSymbolGetAttr(shallow.get(), "colour", &value, &found));
  ASSERT_EQ(found, 1);
  EXPECT_STREQ(value, "red");
  MX_OK(MXSymbolGetAttr(deep.get(), "colour", &value, &found));
  EXPECT_EQ(found, 0);
}

TEST(SymbolParts, InternalsChildrenAndInputs) {
  const Sym fc = dense();
  Sym internals, children, none;
  MX_OK(MXSymbolGetInternals(fc.get(), internals.out()));
  EXPECT_EQ(names(MXSymbolListOutputs, internals),
            (Names{"x", "fc_weight", "fc_bias", "fc_output"}));
  MX_OK(MXSymbolGetChildren(fc.get(), children.out()));
  EXPECT_EQ(names(MXSymbolListOutputs, children), (Names{"x", "fc_weight", "fc_bias"}));
  const Sym x = var("x");
  MX_OK(MXSymbolGetChildren(x.get(), none.out()));
  EXPECT_EQ(names(MXSymbolListOutputs, none),
            Names{});  // a variable has a symbol of no children, as in 1.9.1

  SymbolHandle* inputs = nullptr;
  int count = 0;
  MX_OK(MXSymbolGetInputSymbols(fc.get(), &inputs, &count));
  ASSERT_EQ(count, 3);
  const Sym first(inputs[0]), weight(inputs[1]), bias(inputs[2]);
  EXPECT_EQ(names(MXSymbolListOutputs, weight), Names{"fc_weight"});
}

TEST(SymbolParts, OutputsWithNamesOfTheirOwn) {
  const Sym x = var("x"), y = var("y");
  const Sym piece = call_symbol("SliceChannel", "cut", {x.get()}, {{"num_outputs", "1"}});
  EXPECT_EQ(names(MXSymbolListOutputs, piece), Names{"cut_output0"});
  const Sym product = call_symbol("_npi_matmul", "product", {x.get(), y.get()});
  EXPECT_EQ(names(MXSymbolListOutputs, product), Names{"product_out"});
}

TEST(SymbolParts, TheOperatorWithoutItsInputs) {
  const Sym fc = dense(), y = var("y");
  Sym bare;
  MX_OK(MXGenAtomicSymbolFromSymbol(fc.get(), bare.out()));
  SymbolHandle inputs[] = {y.get()};
  MX_OK(MXSymbolCompose(bare.get(), "again", 1, nullptr, inputs));
  EXPECT_EQ(names(MXSymbolListArguments, bare), (Names{"y", "again_weight", "again_bias"}));
  const char* hidden = nullptr;
  int found = 0;
  MX_OK(MXSymbolGetAttr(bare.get(), "num_hidden", &hidden, &found));
  ASSERT_EQ(found, 1);
  EXPECT_STREQ(hidden, "3");
}

TEST(SymbolParts, AttributesOfTheOutputsNodeAlone) {
  const Sym fc = dense();
  uint32_t pairs = 0;
  const char** texts = nullptr;
  MX_OK(MXSymbolListAttrShallow(fc.get(), &pairs, &texts));
  EXPECT_EQ(Names(texts, texts + 2 * pairs), (Names{"num_hidden", "3"}));
}

TEST(SymbolParts, JsonGoesRoundAndBrokenJsonIsAnError) {
  const Sym fc = dense();
  const std::string json = json_of(fc);
  Sym again, none;
  MX_OK(MXSymbolCreateFromJSON(json.c_str(), again.out()));
  EXPECT_EQ(json_of(again), json);
  EXPECT_EQ(MXSymbolCreateFromJSON(json.substr(0, json.size() / 2).c_str(), none.out()), -1);
  EXPECT_EQ(none.get(), nullptr);
}

TEST(SymbolParts, PrintingNamesEveryNode) {
  const Sym sum = sum_of_two();
  const char* text = nullptr;
  MX_OK(MXSymbolPrint(sum.get(), &text));
  for (const char* part : {"Variable:x", "Name=a", "Name=b", "Name=s", "Op:elemwise_add"})
    EXPECT_NE(std::string(text).find(part), std::string::npos) << part << " in\n" << text;
}

// Inference in all widths of dimensions: the same call, whole and partial.
template <class Dim, class Index, class Size, class Rank>
using InferShape = int (*)(SymbolHandle, uint32_t, const char**, const Index*, const Dim*, Size*,
                           const Rank**, const Dim***, Size*, const Rank**, const Dim***, Size*,
                           const Rank**, const Dim***, int*);

template <class Dim, class Index, class Size, class Rank>
void expect_shapes(InferShape<Dim, Index, Size, Rank> infer, std::vector<Dim> given,
                   std::vector<Dim> weight, std::vector<Dim> output, int complete_wanted) {
  const Sym fc = dense();
  const char* keys[] = {"x"};
  const Index ends[] = {0, static_cast<Index>(given.size())};
  Size sizes[3] = {};
  const Rank* ranks[3] = {};
  const Dim** shapes[3] = {};
  int complete = -1;
  MX_OK(infer(fc.get(), 1, keys, ends, given.data(), &sizes[0], &ranks[0], &shapes[0], &sizes[1],
              &ranks[1], &shapes[1], &sizes[2], &ranks[2], &shapes[2], &complete));
  EXPECT_EQ(complete, complete_wanted);
  ASSERT_EQ(sizes[0], Size{3});
  ASSERT_EQ(sizes[1], Size{1});
  EXPECT_EQ(sizes[2], Size{0});
  EXPECT_EQ(std::vector<Dim>(shapes[0][1], shapes[0][1] + ranks[0][1]), weight);
  EXPECT_EQ(std::vector<Dim>(shapes[1][0], shapes[1][0] + ranks[1][0]), output);
}

TEST(SymbolShapes, FollowFromTheDataInEveryWidth) {
  expect_shapes<uint32_t, uint32_t, uint32_t, uint32_t>(MXSymbolInferShape, {2, 4}, {3, 4}, {2, 3},
                                                        1);
  expect_shapes<int, uint32_t, uint32_t, int>(MXSymbolInferShapeEx, {2, 4}, {3, 4}, {2, 3}, 1);
  expect_shapes<int64_t, int64_t, size_t, int>(MXSymbolInferShapeEx64, {2, 4}, {3, 4}, {2, 3}, 1);
}

TEST(SymbolShapes, PartialOnesKeepWhatIsUnknown) {
  expect_shapes<uint32_t, uint32_t, uint32_t, uint32_t>(MXSymbolInferShapePartial, {0, 4}, {3, 4},
                                                        {0, 3}, 1);
  expect_shapes<int, uint32_t, uint32_t, int>(MXSymbolInferShapePartialEx, {0, 4}, {3, 4}, {0, 3},
                                              1);
  expect_shapes<int64_t, int64_t, size_t, int>(MXSymbolInferShapePartialEx64, {0, 4}, {3, 4},
                                               {0, 3}, 1);
}

TEST(SymbolShapes, ConflictsNameTheNode) {
  const Sym fc = dense();
  const char* keys[] = {"x", "fc_weight"};
  const uint32_t ends[] = {0, 2, 4}, dims[] = {2, 4, 3, 5};
  uint32_t sizes[3] = {};
  const uint32_t* ranks[3] = {};
  const uint32_t** shapes[3] = {};
  int complete = 0;
  EXPECT_EQ(
      MXSymbolInferShape(fc.get(), 2, keys, ends, dims, &sizes[0], &ranks[0], &shapes[0], &sizes[1],
                         &ranks[1], &shapes[1], &sizes[2], &ranks[2], &shapes[2], &complete),
      -1);
  EXPECT_TRUE(error_has("fc")) << MXGetLastError();
  EXPECT_TRUE(error_has("5")) << MXGetLastError();
}

TEST(SymbolShapes, PartialTypesAreThoseThatFollow) {
  const Sym x = var("x"), y = var("y");
  const Sym a = call_symbol("exp", "a", {x.get()}), b = call_symbol("exp", "b", {y.get()});
  SymbolHandle members[] = {a.get(), b.get()};
  Sym group;
  MX_OK(MXSymbolCreateGroup(2, members, group.out()));
  const char* keys[] = {"x"};
  const int types[] = {1};  // float64
  uint32_t sizes[3] = {};
  const int* found[3] = {};
  int complete = -1;
  MX_OK(MXSymbolInferTypePartial(group.get(), 1, keys, types, &sizes[0], &found[0], &sizes[1],
                                 &found[1], &sizes[2], &found[2], &complete));
  ASSERT_EQ(sizes[1], 2u);
  EXPECT_EQ(found[1][0], 1);
  EXPECT_EQ(found[1][1], -1);
}

TEST(SymbolPasses, CastsOfMixedPrecisionComeAndGo) {
  const Sym fc = dense();
  const Sym net = call_symbol("exp", "e", {fc.get()});
  const int float32 = 0, float16 = 2, bounds[] = {0};
  const char *low[] = {"FullyConnected"}, *full[] = {"exp"},
             *args[] = {"x", "fc_weight", "fc_bias"};
  const int types[] = {float32, float32, float32};
  Sym reduced, plain;
  MX_OK(MXReducePrecisionSymbol(net.get(), reduced.out(), 3, types, 1, bounds, &float16, 0, 1, 1, 0,
                                0, 0, 0, low, full, nullptr, nullptr, nullptr, nullptr, nullptr,
                                nullptr, args));
  EXPECT_NE(json_of(reduced).find("\"dtype\": \"float16\""), std::string::npos);
  EXPECT_NE(json_of(reduced).find("\"dtype\": \"float32\""), std::string::npos);
  MX_OK(MXSymbolRemoveAmpCast(reduced.get(), plain.out()));
  EXPECT_EQ(json_of(plain).find("amp_cast"), std::string::npos);
  EXPECT_EQ(names(MXSymbolListOutputs, plain), Names{"e_output"});
}

TEST(SymbolPasses, ConditionsKeepAnOperatorInFloat32) {
  const Sym fc = dense();
  const auto reduce = [&](const char* activation, uint32_t bounds_count, const int* bounds,
                          Sym* reduced) {
    const Sym act = call_symbol("Activation", "act", {fc.get()}, {{"act_type", activation}});
    const int bfloat16 = 12;
    const char *low[] = {"FullyConnected", "Activation"}, *conditional[] = {"Activation"};
    const char *parameter[] = {"act_type"}, *value[] = {"softrelu"};
    return MXReducePrecisionSymbol(act.get(), reduced->out(), 0, nullptr, bounds_count, bounds,
                                   &bfloat16, 0, 2, 0, 0, 1, 0, 0, low, nullptr, nullptr,
                                   conditional, nullptr, parameter, value, nullptr, nullptr);
  };
  const int bounds[] = {0, 1}, shrinking[] = {1, 0};
  const auto casts = [&](const char* activation) {
    Sym reduced;
    EXPECT_EQ(reduce(activation, 2, bounds, &reduced), 0) << MXGetLastError();
    const std::string json = json_of(reduced);
    // The activation's own cast to float32 stands between the two, or behind both.
    return json.find("\"op\": \"Activation\"") > json.find("\"dtype\": \"float32\"");
  };
  EXPECT_TRUE(casts("softrelu"));
  EXPECT_FALSE(casts("relu"));
  Sym none;
  EXPECT_EQ(reduce("softrelu", 1, bounds, &none), -1);
  EXPECT_TRUE(error_has("given 1 conditions and 1 bounds")) << MXGetLastError();
  EXPECT_EQ(reduce("softrelu", 2, shrinking, &none), -1);
}

// What an operator's rule reads of them was read from nowhere.
TEST(SymbolPasses, TypesOfASymbolWithoutItsInputsAreNotLookedFor) {
  OpHandle exp = nullptr;
  Sym alone, reduced;
  MX_OK(NNGetOpHandle("exp", &exp));
  MX_OK(MXSymbolCreateAtomicSymbol(exp, 0, nullptr, nullptr, alone.out()));
  const int bfloat16 = 12;
  const char* widest[] = {"exp"};
  for (const uint32_t listed : {0, 1}) {
    EXPECT_EQ(MXReducePrecisionSymbol(alone.get(), reduced.out(), 0, nullptr, 0, nullptr, &bfloat16,
                                      0, 0, 0, listed, 0, 0, 0, nullptr, nullptr, widest, nullptr,
                                      nullptr, nullptr, nullptr, nullptr, nullptr),
              -1);
    EXPECT_TRUE(error_has("given 0 inputs, expected 1")) << MXGetLastError();
  }
}

// What a node to calibrate stands behind was read from nowhere.
TEST(SymbolPasses, RangesOfASymbolWithoutItsInputsAreNotSet) {
  OpHandle quantize = nullptr;
  Sym alone, calibrated;
  MX_OK(NNGetOpHandle("_contrib_quantize_v2", &quantize));
  MX_OK(MXSymbolCreateAtomicSymbol(quantize, 0, nullptr, nullptr, alone.out()));
  const char* layers[] = {"data"};
  const float low = -1.0f, high = 1.0f;
  EXPECT_EQ(MXSetCalibTableToQuantizedSymbol(alone.get(), 1, layers, &low, &high, calibrated.out()),
            -1);
  EXPECT_TRUE(error_has("given 0 inputs, expected 1")) << MXGetLastError();
}

// Both spellings set the operators of one list of backends.
TEST(SymbolPasses, ABackendOfNamesIsSetAndRemoved) {
  const Sym sum = sum_of_two();
  const char* ops[] = {"exp", "elemwise_add"};
  MX_OK(MXSetSubgraphPropertyOpNames("c_api_names", 2, ops));
  Sym found, none;
  MX_OK(MXGenBackendSubgraph(sum.get(), "c_api_names", found.out()));
  EXPECT_EQ(names(MXSymbolListOutputs, found), Names{"_CachedOp0_s_output"});
  MX_OK(MXRemoveSubgraphPropertyOpNames("c_api_names"));
  EXPECT_EQ(MXGenBackendSubgraph(sum.get(), "c_api_names", none.out()), -1);
  EXPECT_TRUE(error_has("c_api_names")) << MXGetLastError();
  EXPECT_EQ(MXRemoveSubgraphPropertyOpNames("c_api_names"), -1);
}

struct Knowledge {
  std::vector<NDArrayHandle> arguments;
  Params options;
  std::vector<int64_t> shape_of_x;
};

int optimize(const Sym& sym, const char* backend, Knowledge known, Sym* out) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : known.options) {
    keys.push_back(key);
    values.push_back(value);
  }
  const char* input[] = {"x"};
  const uint32_t ends[] = {0, static_cast<uint32_t>(known.shape_of_x.size())};
  const uint32_t shapes = known.shape_of_x.empty() ? 0 : 1;
  int new_args = -1, new_aux = -1;
  NDArrayHandle *args = nullptr, *aux = nullptr;
  char **arg_names = nullptr, **aux_names = nullptr;
  const int status = MXOptimizeForBackend(
      sym.get(), backend, 1, out->out(), static_cast<uint32_t>(known.arguments.size()),
      known.arguments.data(), 0, nullptr, static_cast<uint32_t>(keys.size()), keys.data(),
      values.data(), shapes, input, known.shape_of_x.data(), ends, 0, nullptr, nullptr, 0, nullptr,
      nullptr, false, &new_args, &args, &arg_names, &new_aux, &aux, &aux_names);
  if (status == 0) {
    EXPECT_EQ(new_args, 0);
    EXPECT_EQ(new_aux, 0);
  }
  return status;
}

TEST(SymbolPasses, InputsOfAPartAreNumberedByTheirNames) {
  const Sym x = var("x"), w = var("w");
  const Sym outer = call_symbol("SliceChannel", "cut", {x.get()}, {{"num_outputs", "2"}});
  Sym first;
  MX_OK(MXSymbolGetOutput(outer.get(), 1, first.out()));
  const Sym inner = call_symbol("elemwise_add", "s", {first.get(), w.get()});
  const char* ops[] = {"elemwise_add"};
  Sym parts;
  MX_OK(MXBuildSubgraphByOpNames(inner.get(), "default", 1, ops, parts.out()));
  const std::string json = json_of(parts);
  for (const char* name : {"\"cut_output10\"", "\"w0\""})
    EXPECT_NE(json.find(name), std::string::npos) << name << json;
}

TEST(SymbolPasses, OptimizingTakesPartsKnowledgeAndOptions) {
  const Sym fc = dense();
  const Sym net = call_symbol("exp", "e", {fc.get()});
  const char* ops[] = {"FullyConnected", "exp"};
  MX_OK(MXSetSubgraphPropertyOpNamesV2("c_api_parts", 2, ops));
  Sym whole, deduplicated, none;
  MX_OK(optimize(net, "c_api_parts", {{}, {}, {2, 4}}, &whole));
  EXPECT_EQ(names(MXSymbolListOutputs, whole), Names{"_CachedOp0_e_output"});
  MX_OK(optimize(net, "c_api_parts", {{}, {{"dedup_subgraph", "True"}}, {}}, &deduplicated));
  EXPECT_EQ(names(MXSymbolListOutputs, deduplicated), Names{"_CachedOp0_e_output"});

  EXPECT_EQ(optimize(net, "c_api_parts", {{}, {{"nosuch", "1"}}, {}}, &none), -1);
  EXPECT_TRUE(error_has("nosuch")) << MXGetLastError();
  // x has 4 columns, the weight 2: the mistake is found before anything is taken apart.
  const Array x(Values{1, 2}), weight(Values{1, 2});
  EXPECT_EQ(optimize(net, "c_api_parts", {{x.get(), weight.get()}, {}, {2, 4}}, &none), -1);
  EXPECT_EQ(none.get(), nullptr);
  MX_OK(MXRemoveSubgraphPropertyOpNamesV2("c_api_parts"));
  EXPECT_EQ(optimize(net, "c_api_parts", {}, &none), -1);
  EXPECT_TRUE(error_has("c_api_parts")) << MXGetLastError();
}

}  // namespace
}  // namespace mxnet::c_test
