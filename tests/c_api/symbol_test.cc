// SPDX-License-Identifier: Apache-2.0
// Symbols as a C program uses them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "symbols.h"

namespace mxnet::c_test {
namespace {

TEST(SymbolApi, ListsNames) {
  const Sym fc = dense();
  EXPECT_EQ(names(MXSymbolListArguments, fc), (Names{"x", "fc_weight", "fc_bias"}));
  EXPECT_EQ(names(MXSymbolListOutputs, fc), Names{"fc_output"});
  EXPECT_EQ(names(MXSymbolListAuxiliaryStates, fc), Names{});
}

TEST(SymbolApi, AttributesAlternateKeysAndValues) {
  const Sym fc = dense();
  MX_OK(MXSymbolSetAttr(fc.get(), "lr_mult", "2"));
  uint32_t pairs;
  const char** texts;
  MX_OK(MXSymbolListAttr(fc.get(), &pairs, &texts));
  EXPECT_EQ(Names(texts, texts + 2 * pairs),
            (Names{"fc_weight$num_hidden", "3", "fc_bias$num_hidden", "3", "fc$num_hidden", "3",
                   "fc$__lr_mult__", "2", "fc$lr_mult", "2"}));
  MX_OK(NNSymbolListAttrs(fc.get(), 1, &pairs, &texts));
  EXPECT_EQ(Names(texts, texts + 2 * pairs), (Names{"num_hidden", "3", "__lr_mult__", "2"}));
}

TEST(SymbolApi, OfAnAttributeThatIsGivenTwiceTheFirstCounts) {
  const Sym x = var("x");
  const Sym fc = call_symbol(
      "FullyConnected", "fc", {x.get()},
      {{"num_hidden", "3"}, {"lr_mult", "1"}, {"num_hidden", "bad"}, {"__lr_mult__", "2"}});
  uint32_t pairs;
  const char** texts;
  MX_OK(NNSymbolListAttrs(fc.get(), 1, &pairs, &texts));
  EXPECT_EQ(Names(texts, texts + 2 * pairs), (Names{"num_hidden", "3", "__lr_mult__", "1"}));
}

TEST(SymbolApi, AMissingAttributeIsNoError) {
  const Sym x = var("x");
  const char* value = "unset";
  int success = 7;
  MX_OK(MXSymbolGetAttr(x.get(), "nosuch", &value, &success));
  EXPECT_EQ(success, 0);
  MX_OK(MXSymbolGetName(x.get(), &value, &success));
  EXPECT_EQ(success, 1);
  EXPECT_STREQ(value, "x");
}

TEST(SymbolApi, ShapesGoInAndOutByName) {
  const Sym fc = dense();
  const char* keys[] = {"x"};
  const uint32_t ends[] = {0, 2};
  const int dims[] = {2, 4};
  uint32_t sizes[3];
  const int* ranks[3];
  const int** shapes[3];
  int complete;
  MX_OK(MXSymbolInferShapeEx(fc.get(), 1, keys, ends, dims, &sizes[0], &ranks[0], &shapes[0],
                             &sizes[1], &ranks[1], &shapes[1], &sizes[2], &ranks[2], &shapes[2],
                             &complete));
  EXPECT_EQ(complete, 1);
  ASSERT_EQ(sizes[0], 3u);
  EXPECT_EQ(ranks[0][1], 2);
  EXPECT_EQ(shapes[0][1][0], 3);
  EXPECT_EQ(shapes[0][1][1], 4);
  EXPECT_EQ(sizes[2], 0u);
}

TEST(SymbolApi, ZeroIsUnknownUnlessShapesAreNumpys) {
  const Sym fc = dense();
  const char* keys[] = {"x"};
  const int64_t ends[] = {0, 2}, dims[] = {0, 4};
  size_t sizes[3];
  const int* ranks[3];
  const int64_t** shapes[3];
  int complete, before;
  const auto infer = [&] {
    return MXSymbolInferShapeEx64(fc.get(), 1, keys, ends, dims, &sizes[0], &ranks[0], &shapes[0],
                                  &sizes[1], &ranks[1], &shapes[1], &sizes[2], &ranks[2],
                                  &shapes[2], &complete);
  };
  MX_OK(infer());
  EXPECT_EQ(complete, 0);
  MX_OK(MXSetIsNumpyShape(1, &before));
  const int status = infer();
  const int known = complete;
  MX_OK(MXSetIsNumpyShape(before, &before));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(known, 1);
}

TEST(SymbolApi, TypesFollowFromOne) {
  const Sym fc = dense();
  const char* keys[] = {"x"};
  const int types[] = {2};
  uint32_t sizes[3];
  const int* found[3];
  int complete;
  MX_OK(MXSymbolInferType(fc.get(), 1, keys, types, &sizes[0], &found[0], &sizes[1], &found[1],
                          &sizes[2], &found[2], &complete));
  EXPECT_EQ(complete, 1);
  EXPECT_EQ(found[0][2], 2);
}

TEST(SymbolApi, FilesGoRound) {
  const Sym fc = dense();
  const std::string path =
      testing::TempDir() + "/symbol_api." + std::to_string(::getpid()) + ".json";
  MX_OK(MXSymbolSaveToFile(fc.get(), path.c_str()));
  Sym again;
  MX_OK(MXSymbolCreateFromFile(path.c_str(), again.out()));
  const char* text;
  MX_OK(MXSymbolSaveToJSON(fc.get(), &text));
  const std::string first = text;
  MX_OK(MXSymbolSaveToJSON(again.get(), &text));
  EXPECT_EQ(first, text);
}

TEST(SymbolApi, TheBodyOfALoopIsCutOff) {
  const Sym x = var("x");
  const Sym outer = call_symbol("exp", "outer", {x.get()});
  const Sym body = call_symbol("sin", "body", {outer.get()}, {{"__subgraph_name__", "loop0"}});
  SymbolHandle* values;
  int count;
  MX_OK(MXSymbolCutSubgraph(body.get(), &values, &count));
  ASSERT_EQ(count, 1);
  const Sym value(values[0]);
  EXPECT_EQ(names(MXSymbolListOutputs, value), Names{"outer_output"});
  EXPECT_EQ(names(MXSymbolListArguments, body), Names{"outer_output"});
}

TEST(SymbolApi, GradientsAreASymbol) {
  const Sym x = var("x");
  const Sym y = call_symbol("exp", "y", {x.get()});
  const char* wrt[] = {"x"};
  Sym grad;
  MX_OK(MXSymbolGrad(y.get(), 1, wrt, grad.out()));
  uint32_t outputs;
  MX_OK(MXSymbolGetNumOutputs(grad.get(), &outputs));
  EXPECT_EQ(outputs, 1u);
  EXPECT_EQ(names(MXSymbolListArguments, grad), Names{"x"});
  const char* unknown[] = {"z"};
  EXPECT_EQ(MXSymbolGrad(y.get(), 1, unknown, grad.out()), -1);
}

TEST(SymbolApi, TheTapeIsASymbol) {
  Array x(Values{1, 2});
  int before;
  MX_OK(MXAutogradSetIsRecording(1, &before));
  uint32_t write = 1;
  Array grad(Values{0, 0});
  NDArrayHandle handles[] = {x.get()}, grads[] = {grad.get()};
  MX_OK(MXAutogradMarkVariables(1, handles, &write, grads));
  OpHandle op;
  MX_OK(NNGetOpHandle("exp", &op));
  int num_outputs = 0;
  NDArrayHandle* outputs = nullptr;
  const int* stypes;
  const int status =
      MXImperativeInvokeEx(op, 1, handles, &num_outputs, &outputs, 0, nullptr, nullptr, &stypes);
  MX_OK(MXAutogradSetIsRecording(before, &before));
  ASSERT_EQ(status, 0) << MXGetLastError();
  const Array y(outputs[0]);
  Sym sym;
  MX_OK(MXAutogradGetSymbol(y.get(), sym.out()));
  EXPECT_EQ(names(MXSymbolListArguments, sym), Names{"var0"});
  EXPECT_EQ(names(MXSymbolListOutputs, sym), Names{"node_0_output"});
}

TEST(SymbolApi, PartsForABackend) {
  const Sym x = var("x");
  const Sym e = call_symbol("exp", "e", {x.get()});
  const char* ops[] = {"exp"};
  Sym built, found;
  MX_OK(MXBuildSubgraphByOpNames(e.get(), "default", 1, ops, built.out()));
  EXPECT_EQ(names(MXSymbolListOutputs, built), Names{"_CachedOp0_e_output"});
  MX_OK(MXSetSubgraphPropertyOpNamesV2("default", 1, ops));
  MX_OK(MXGenBackendSubgraph(e.get(), "default", found.out()));
  EXPECT_EQ(names(MXSymbolListOutputs, found), Names{"_CachedOp0_e_output"});
  MX_OK(MXRemoveSubgraphPropertyOpNamesV2("default"));
  Sym none;
  EXPECT_EQ(MXGenBackendSubgraph(e.get(), "default", none.out()), -1);
}

TEST(SymbolApi, GraphsApplyPassesByName) {
  const Sym x = var("x");
  const Sym a = call_symbol("exp", "a", {x.get()}), b = call_symbol("exp", "b", {x.get()});
  const Sym sum = call_symbol("elemwise_add", "s", {a.get(), b.get()});
  GraphHandle graph, smaller;
  MX_OK(NNGraphCreate(sum.get(), &graph));
  const char* passes[] = {"EliminateCommonExpr", "SaveJSON"};
  MX_OK(NNGraphApplyPasses(graph, 2, passes, &smaller));
  const char* json;
  int success;
  MX_OK(NNGraphGetJSONAttr(smaller, "json", &json, &success));
  ASSERT_EQ(success, 1);
  EXPECT_EQ(std::string(json).find("\"name\": \"b\""), std::string::npos);
  const char* unknown[] = {"Nope"};
  EXPECT_EQ(NNGraphApplyPasses(graph, 1, unknown, &smaller), -1);
  MX_OK(NNGraphFree(smaller));
  MX_OK(NNGraphFree(graph));
}

TEST(SymbolApi, DependenciesMayNotFormACycle) {
  const Sym x = var("x");
  const Sym a = call_symbol("exp", "a", {x.get()}), b = call_symbol("sin", "b", {a.get()});
  MX_OK(NNAddControlDeps(b.get(), x.get()));
  EXPECT_EQ(NNAddControlDeps(a.get(), b.get()), -1);
}

TEST(SymbolApi, AFreedHandleIsAnError) {
  SymbolHandle handle;
  MX_OK(MXSymbolCreateVariable("x", &handle));
  MX_OK(MXSymbolFree(handle));
  EXPECT_EQ(MXSymbolFree(handle), -1);
}

TEST(SymbolApi, NetworksAreQuantizedAndCalibrated) {
  const Sym fc = dense();
  const int cpu = 1;
  const char* no_names[] = {nullptr};
  const auto quantize = [&](const char* dtype, const char* mode, SymbolHandle* out, uint32_t* count,
                            const char*** names) {
    return MXQuantizeSymbol(fc.get(), out, &cpu, 0, no_names, 0, no_names, 0, no_names, dtype, true,
                            mode, "tensor-wise", count, names);
  };
  Sym quantized, calibrated;
  uint32_t count = 0;
  const char** names = nullptr;
  MX_OK(quantize("auto", "smart", quantized.out(), &count, &names));
  const std::vector<std::string> values(names, names + count);
  ASSERT_FALSE(values.empty());
  // The same are named where nobody means to calibrate, to callers who ask.
  Sym uncalibrated;
  MX_OK(MXQuantizeSymbol(fc.get(), uncalibrated.out(), &cpu, 0, no_names, 0, no_names, 0, no_names,
                         "auto", false, "smart", "tensor-wise", &count, &names));
  EXPECT_EQ(std::vector<std::string>(names, names + count), values);
  MX_OK(MXQuantizeSymbol(fc.get(), Sym().out(), &cpu, 0, no_names, 0, no_names, 0, no_names, "auto",
                         false, "smart", "tensor-wise", nullptr, nullptr));
  EXPECT_TRUE(values.back().ends_with("_output"));
  const char* const layer = values.back().c_str();
  const char* layers[] = {layer};
  const float low = -0.5f, high = 2.0f;
  MX_OK(
      MXSetCalibTableToQuantizedSymbol(quantized.get(), 1, layers, &low, &high, calibrated.out()));
  const char* json = nullptr;
  MX_OK(MXSymbolSaveToJSON(calibrated.get(), &json));
  EXPECT_NE(std::string(json).find("\"max_calib_range\": \"2.000000\""), std::string::npos);

  Sym none;
  EXPECT_EQ(quantize("int4", "smart", none.out(), &count, &names), -1);
  EXPECT_NE(std::string(MXGetLastError()).find("given quantized_dtype int4, expected one of"),
            std::string::npos);
  EXPECT_EQ(quantize("int8", "clever", none.out(), &count, &names), -1);
  EXPECT_EQ(none.get(), nullptr);
  EXPECT_EQ(
      MXSetCalibTableToQuantizedSymbol(quantized.get(), 1, layers, nullptr, &high, none.out()), -1);
}

TEST(SymbolApi, FilesSayThatTheyWereWrittenWithNumPyShapes) {
  const Sym x = var("x");
  const char* json = nullptr;
  int before = 0;
  MX_OK(MXSymbolSaveToJSON(x.get(), &json));
  EXPECT_EQ(std::string(json).find("is_np_shape"), std::string::npos);
  MX_OK(MXSetIsNumpyShape(1, &before));
  MX_OK(MXSymbolSaveToJSON(x.get(), &json));
  const std::string text = json;
  MX_OK(MXSetIsNumpyShape(before, &before));
  EXPECT_NE(text.find("\"is_np_shape\": [\"int\", 1], \n"), std::string::npos) << text;
  Sym again;
  MX_OK(MXSymbolCreateFromJSON(text.c_str(), again.out()));
}

TEST(SymbolApi, WithoutCastsASymbolHasNodesOfItsOwn) {
  const Sym x = var("x");
  Sym bare;
  MX_OK(MXSymbolRemoveAmpCast(x.get(), bare.out()));
  MX_OK(MXSymbolSetAttr(bare.get(), "__mood__", "good"));
  uint32_t pairs = 7;
  const char** texts;
  MX_OK(MXSymbolListAttr(x.get(), &pairs, &texts));
  EXPECT_EQ(pairs, 0);
}

}  // namespace
}  // namespace mxnet::c_test
