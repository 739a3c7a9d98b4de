// SPDX-License-Identifier: Apache-2.0
// Symbol files: what is read, what is written, what is refused.
#include "graph/load.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "graph/symbol_attributes.h"
#include "ir/saved_graph.h"
#include "op/op_def.h"
#include "symbols.h"

namespace mxnet::graph_test {
namespace {

using Names = std::vector<std::string>;
constexpr auto kAll = Symbol::Inputs::kAll;

std::string file(std::string_view nodes, std::string_view heads, std::string_view version) {
  return fmt::format(R"({{"nodes": [{}], "arg_nodes": [0], "heads": [{}]{}}})", nodes, heads,
                     version.empty()
                         ? ""
                         : fmt::format(R"(, "attrs": {{"mxnet_version": ["int", {}]}})", version));
}
constexpr std::string_view kX = R"({"op": "null", "name": "x", "inputs": []})";

// Two variables x, w and FullyConnected with these members.
Symbol dense_file(std::string_view members, std::string_view version) {
  return load_symbol(file(fmt::format(R"({},{{"op":"null","name":"w","inputs":[]}},)"
                                      R"({{"op":"FullyConnected","name":"fc",{}}})",
                                      kX, members),
                          "[2,0]", version));
}

// Families of operators come one by one: a file is read as soon as all of its operators are there.
bool operators_exist(std::string_view text) {
  for (const ir::SavedNode& node : ir::parse_saved_graph(text).nodes)
    if (node.op != "null" && Registry::get().find(node.op) == nullptr) return false;
  return true;
}

class SavedFile : public testing::TestWithParam<const char*> {};

TEST_P(SavedFile, IsWrittenAgainByteForByte) {
  const std::string text = read_symbol_file(std::string(GetParam()) + "-symbol.json");
  EXPECT_EQ(ir::print_saved_graph(ir::parse_saved_graph(text)), text);
  if (operators_exist(text)) {
    EXPECT_EQ(save_symbol(load_symbol(text)), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Load, SavedFile,
                         testing::Values("foreach", "fused_lstm", "gluon", "gluon_export", "group",
                                         "legacy_v08_upgraded", "lenet", "lstm_lm_t4", "resnet",
                                         "ssd", "transformer"));

// What 1.9.1 writes for them; readers add it up to find a node's values.
TEST(Save, FilesCountTheOutputsThatTheReleaseHides) {
  struct {
    std::string_view op;
    std::vector<Symbol> inputs;
    Attrs attrs;
    int outputs;
  } const cases[] = {
      {"topk", {var("x")}, {{"ret_typ", "value"}}, 2},
      {"topk", {var("x")}, {{"ret_typ", "mask"}}, 1},
      {"topk", {var("x")}, {}, 1},
      {"sort", {var("x")}, {}, 2},
      {"_npi_norm", {var("x")}, {}, 4},
      {"Correlation", {var("x"), var("y")}, {}, 3},
      {"SpatialTransformer",
       {var("x"), var("l")},
       {{"transform_type", "affine"}, {"sampler_type", "bilinear"}, {"target_shape", "(2, 2)"}},
       3},
      {"GridGenerator", {var("x")}, {{"transform_type", "affine"}, {"target_shape", "(2, 2)"}}, 2},
      {"GridGenerator", {var("x")}, {{"transform_type", "warp"}}, 2},
      {"BilinearSampler", {var("x"), var("grid")}, {}, 2},
      {"Pooling", {var("x")}, {{"kernel", "(2, 2)"}}, 2},
      {"Pooling", {var("x")}, {{"kernel", "(2, 2)"}, {"pool_type", "avg"}}, 1},
  };
  for (const auto& [op, inputs, attrs, outputs] : cases) {
    Symbol net = Symbol::atomic(Registry::get().at(op), attrs);
    std::vector<const Symbol*> given;
    for (const Symbol& input : inputs) given.push_back(&input);
    net.compose("n", {}, given);
    const std::vector<int32_t> sums = ir::parse_saved_graph(save_symbol(net)).node_row_ptr;
    ASSERT_GE(sums.size(), 2);
    EXPECT_EQ(sums.back() - sums[sums.size() - 2], outputs) << op;
  }
}

TEST(Load, FilesOfVersion08AreUpgraded) {
  const std::string text = read_symbol_file("legacy_v08-symbol.json");
  if (!operators_exist(text)) GTEST_SKIP() << "BatchNorm is not there yet";
  EXPECT_EQ(save_symbol(load_symbol(text)), read_symbol_file("legacy_v08_upgraded-symbol.json"));
}

TEST(Load, AliasesBecomeTheOperatorsName) {
  const Symbol sum =
      load_symbol(file(fmt::format(R"({},{{"op":"_plus","name":"s","inputs":[[0,0],[0,0]]}})", kX),
                       "[1,0]", "10901"));
  EXPECT_NE(save_symbol(sum).find("\"elemwise_add\""), std::string::npos);
}

TEST(Load, NodesMayBeInAnyOrder) {
  const Symbol e = load_symbol(
      R"({"nodes": [{"op": "exp", "name": "e", "inputs": [[1, 0]]},
                    {"op": "null", "name": "x", "inputs": []}],
          "arg_nodes": [1], "heads": [[0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})");
  EXPECT_EQ(e.list_inputs(kAll), Names{"x"});
  EXPECT_EQ(save_symbol(load_symbol(save_symbol(e))), save_symbol(e));
}

TEST(Load, ControlDependenciesAreKept) {
  const std::string text =
      file(fmt::format(R"({},{{"op":"exp","name":"a","inputs":[[0,0]]}},)"
                       R"({{"op":"exp","name":"b","inputs":[[0,0]],"control_deps":[1]}})",
                       kX),
           "[2,0]", "10901");
  const Symbol b = load_symbol(text);
  ASSERT_EQ(b.node()->control_deps().size(), 1u);
  EXPECT_NE(save_symbol(b).find("\"control_deps\": [1]"), std::string::npos);
  EXPECT_EQ(b.copy().node()->control_deps()[0]->name, "a");
}

TEST(Load, OldHiddenKeysMoveToWhereTheyBelong) {
  const Symbol fc = dense_file(
      R"("attr":{"num_hidden":"3","lr_mult":"2","weight_lr_mult":"1.5"},"inputs":[[0,0],[1,0],[1,0]])",
      "904");
  EXPECT_EQ(get_attr(fc, "__lr_mult__"), "2");
  EXPECT_FALSE(get_attr(fc, "weight_lr_mult"));
  EXPECT_EQ(get_attr(fc.input_symbols()[1], "__lr_mult__"), "1.5");
}

TEST(Load, CurrentFilesHaveNoBareHiddenKeys) {
  const std::string message = message_of([] {
    dense_file(R"("attrs":{"num_hidden":"3","lr_mult":"2"},"inputs":[[0,0],[1,0],[1,0]])", "10901");
  });
  EXPECT_NE(message.find("lr_mult"), message.npos) << message;
  EXPECT_NE(message.find("fc(FullyConnected)"), message.npos) << message;
}

TEST(Load, InputsThatAnOldFileLeavesOutAreMade) {
  const Symbol fc = dense_file(R"("param":{"num_hidden":"3"},"inputs":[[0,0],[1,0]])", "");
  EXPECT_EQ(fc.list_inputs(kAll), (Names{"x", "w", "fc_bias"}));
}

TEST(Load, InputsThatANewFileLeavesOutAreAnError) {
  const std::string message = message_of(
      [] { dense_file(R"("attrs":{"num_hidden":"3"},"inputs":[[0,0],[1,0]])", "10901"); });
  EXPECT_NE(message.find("given 2 inputs in a file, expected 3"), message.npos) << message;
}

TEST(Load, TheOldDefaultAxisOfArgmaxIsNoAxis) {
  const auto load_argmax = [](std::string_view version) {
    return load_symbol(
        file(fmt::format(
                 R"({},{{"op":"argmax","name":"m","attrs":{{"axis":"-1"}},"inputs":[[0,0]]}})", kX),
             "[1,0]", version));
  };
  EXPECT_FALSE(get_attr(load_argmax("904"), "axis"));
  EXPECT_EQ(get_attr(load_argmax("905"), "axis"), "-1");
}

TEST(Load, UnknownOperatorIsNamedWithItsNode) {
  const std::string message = message_of([] {
    load_symbol(file(fmt::format(R"({},{{"op":"Nope","name":"n","inputs":[[0,0]]}})", kX), "[1,0]",
                     "10901"));
  });
  EXPECT_NE(message.find("[n]"), message.npos) << message;
  EXPECT_NE(message.find("'Nope'"), message.npos) << message;
}

TEST(Load, OutputsThatANodeDoesNotHaveAreAnError) {
  const std::string message = message_of([] { load_symbol(file(kX, "[0,1]", "10901")); });
  EXPECT_NE(message.find("given output 1 in a file"), message.npos) << message;
}

TEST(Load, ClaimsOfManyValuesCostNoMemory) {
  const std::string message = message_of([] {
    load_symbol(file(
        fmt::format(R"({},{{"op":"SliceChannel","name":"s","attrs":{{"num_outputs":"1000000000"}},)"
                    R"("inputs":[[0,0]]}})",
                    kX),
        "[1,0]", "10901"));
  });
  EXPECT_NE(message.find("1000000000"), message.npos) << message;
}

TEST(Load, GraphsOfAnOperatorThatTakesNoneAreAnError) {
  const std::string message = message_of([] {
    load_symbol(file(fmt::format(R"({0},{{"op":"exp","name":"e","inputs":[[0,0]],"subgraphs":[)"
                                 R"({{"nodes":[{0}],"arg_nodes":[0],"heads":[[0,0]]}}]}})",
                                 kX),
                     "[1,0]", "10901"));
  });
  EXPECT_NE(message.find("given 1 subgraphs, expected none"), message.npos) << message;
}

// A quantized one is read by a kernel that knows no other form: data, weight and bias of one layer.
TEST(Load, LayersWhoseGraphIsNoLayerAreAnError) {
  constexpr const char* kLayer =
      R"({"op":"FullyConnected","name":"f","attrs":{"num_hidden":"4"},"inputs":[[0,0],[1,0],[2,0]]})";
  const auto loads = [](std::string_view layer, std::string_view heads, const char* quantized) {
    std::string variables, inputs;
    for (int i = 0; i < 5; ++i) {
      variables += fmt::format(R"({{"op":"null","name":"x{}","inputs":[]}},)", i);
      inputs += fmt::format("{}[{},0]", i > 0 ? "," : "", i);
    }
    if (*quantized == '0') inputs = "[0,0],[1,0],[2,0]";
    load_symbol(file(
        fmt::format(R"({0}{{"op":"_sg_mkldnn_fully_connected","name":"c","inputs":[{1}],"attrs":)"
                    R"({{"quantized":"{2}","channel_wise_quantize":"1"}},"subgraphs":[{{"nodes":)"
                    R"([{0}{3}],"arg_nodes":[0,1,2,3,4],"heads":[{4}]}}]}})",
                    variables, inputs, quantized, layer, heads),
        "[5,0]", "10901"));
  };
  EXPECT_NO_THROW(loads(kLayer, "[5,0]", "1"));
  EXPECT_NO_THROW(loads(kLayer, "[5,0]", "0"));
  for (const char* quantized : {"0", "1"})
    for (const char* heads : {"", "[5,0],[5,0]"})
      EXPECT_THROW(loads(kLayer, heads, quantized), Error) << quantized << heads;
  EXPECT_THROW(loads(kLayer, "[0,0],[1,0],[2,0]", "1"), Error);  // no layer
  const std::string swapped =
      R"({"op":"FullyConnected","name":"f","attrs":{"num_hidden":"4"},"inputs":[[1,0],[1,0],[2,0]]})";
  EXPECT_THROW(loads(swapped, "[5,0]", "1"), Error);
}

TEST(Load, AVariableOfTheLastVersionIsAStateAllTheSame) {
  const Symbol mean = load_symbol(file(kX, "[0,0,2147483647]", "10901"));
  const Symbol norm = call("BatchNorm", "n", {var("d"), var("g"), var("b"), mean, var("v")});
  EXPECT_EQ(norm.outputs()[0].node->inputs.at(3).version, 2147483647);
}

TEST(Load, PartsOfANetworkInANodeAreWrittenAgain) {
  const Symbol part = load_symbol(file(
      fmt::format(R"({0},{{"op":"_CachedOp","name":"c","inputs":[[0,0]],"subgraphs":[)"
                  R"({{"nodes":[{0},{{"op":"exp","name":"e","inputs":[[0,0]]}}],"arg_nodes":[0],)"
                  R"("heads":[[1,0]]}}]}})",
                  kX),
      "[1,0]", "10901"));
  EXPECT_EQ(part.list_outputs(), Names{"c_e_output"});
  EXPECT_EQ(save_symbol(load_symbol(save_symbol(part))), save_symbol(part));
}

TEST(Load, AFileThatIsNotThereIsNamed) {
  const std::string message = message_of([] { load_symbol_file("/nonexistent/x.json"); });
  EXPECT_NE(message.find("/nonexistent/x.json"), message.npos) << message;
}

TEST(Load, LongChainsNeedNoStack) {
  constexpr int kLength = 100'000;
  Symbol chain = var("x");
  for (int i = 0; i < kLength; ++i) chain = call("exp", "e" + std::to_string(i), {chain});
  const std::string text = save_symbol(chain);
  EXPECT_EQ(save_symbol(load_symbol(text)), text);
}

}  // namespace
}  // namespace mxnet::graph_test
