// SPDX-License-Identifier: Apache-2.0
// Symbol files as data: layout, and texts that nobody meant well with.
#include "ir/saved_graph.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "saved_graph_properties.h"

namespace mxnet::ir {
namespace {

SavedGraph two_nodes() {
  SavedGraph graph;
  graph.nodes.resize(2);
  graph.nodes[0] = {"null", "x", {}, {}, {}, {}};
  graph.nodes[1] = {"exp", "e", {}, {{0, 0, 0}}, {}, {}};
  graph.arg_nodes = {0};
  graph.node_row_ptr = {0, 1, 2};
  graph.heads = {{1, 0, 0}};
  return graph;
}

std::string error_of(std::string_view json) {
  try {
    parse_saved_graph(json);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kValue) << error.what();
    return error.message();
  }
  ADD_FAILURE() << "no error for " << json;
  return "";
}

void expect_refused(std::string_view json) { EXPECT_NE(error_of(json), ""); }

TEST(SavedGraph, SingleAttributesStayOnALineAndSeveralAreSorted) {
  SavedGraph graph = two_nodes();
  graph.nodes[0].attrs = {{"b", "1"}};
  graph.nodes[1].attrs = {{"b", "1"}, {"a", "2"}};
  const std::string text = print_saved_graph(graph);
  EXPECT_NE(text.find("\"attrs\": {\"b\": \"1\"}, \n"), text.npos) << text;
  EXPECT_NE(text.find("\"attrs\": {\n        \"a\": \"2\", \n        \"b\": \"1\"\n      }"),
            text.npos)
      << text;
}

TEST(SavedGraph, MoreThanTenNumbersGoOnLinesOfTheirOwn) {
  SavedGraph graph = two_nodes();
  graph.node_row_ptr.assign(10, 0);
  EXPECT_NE(print_saved_graph(graph).find("\"node_row_ptr\": [0, 0"), std::string::npos);
  graph.node_row_ptr.assign(11, 0);
  EXPECT_NE(print_saved_graph(graph).find("\"node_row_ptr\": [\n    0, \n    0"),
            std::string::npos);
}

TEST(SavedGraph, TextsSurviveWhateverIsInThem) {
  SavedGraph graph = two_nodes();
  graph.nodes[0].name = "a\"\\\n\t\r\b\x01\x7f\xc3\xa9/";
  EXPECT_EQ(parse_saved_graph(print_saved_graph(graph)).nodes[0].name, graph.nodes[0].name);
}

TEST(SavedGraph, EscapesOfOtherWritersAreRead) {
  const SavedGraph graph = parse_saved_graph(
      R"({"nodes":[{"op":"null","name":"\u0041\u00e9\ud83d\ude00\/\b\f","inputs":[]}],)"
      R"("arg_nodes":[0],"heads":[[0,0]]})");
  EXPECT_EQ(graph.nodes[0].name, "A\xc3\xa9\xf0\x9f\x98\x80/\b\f");
}

TEST(SavedGraph, ALaterAttributeOfTheSameKeyWins) {
  const SavedGraph graph = parse_saved_graph(
      R"({"nodes":[{"op":"null","name":"x","param":{"k":"0"},"attrs":{"k":"1","k":"2"},)"
      R"("inputs":[]}],"arg_nodes":[0],"heads":[[0,0]]})");
  ASSERT_EQ(graph.nodes[0].attrs.size(), 1u);
  EXPECT_EQ(graph.nodes[0].attrs[0].second, "2");
}

TEST(SavedGraph, AttributesOfTheGraphThatNobodyKnowsAreSkipped) {
  const SavedGraph graph = parse_saved_graph(
      R"({"nodes":[],"arg_nodes":[],"heads":[],"attrs":{"a":["list",[[1,-2.5e3],{"b":[]},true]],)"
      R"("mxnet_version":["int",905],"c":null}})");
  EXPECT_EQ(graph.version, 905);
}

TEST(SavedGraph, ErrorsSayWhere) {
  EXPECT_EQ(error_of("{\n  \"nodes\": 7}").rfind("line 2, column 12", 0), 0u);
}

TEST(SavedGraph, HostileTextsAreErrors) {
  const std::string node = R"({"op":"null","name":"x","inputs":[]})";
  const auto with_nodes = [](const std::string& nodes, const std::string& heads = "[[0,0]]") {
    return R"({"nodes":[)" + nodes + R"(],"arg_nodes":[],"heads":)" + heads + "}";
  };
  expect_refused("");
  expect_refused("[]");
  expect_refused("{");
  expect_refused(R"({"nodes":[],"heads":[]})");
  expect_refused(R"({"nodes":[],"arg_nodes":[],"heads":[],"foo":1})");
  expect_refused(with_nodes(node, "[[1,0]]"));
  expect_refused(with_nodes(node, "[[-1,0]]"));
  expect_refused(with_nodes(node, "[[0]]"));
  expect_refused(with_nodes(node, "[[0,0,0,0]]"));
  expect_refused(with_nodes(node, "[[99999999999999999999,0]]"));
  expect_refused(with_nodes(node, "[[0.5,0]]"));
  expect_refused(with_nodes(node, "[[4294967296,0]]"));
  expect_refused(with_nodes(R"({"op":"null","name":"x"})"));
  expect_refused(with_nodes(R"({"op":"null","name":"x","inputs":[],"foo":"1"})"));
  expect_refused(with_nodes(R"({"op":"null","name":"x","inputs":[],"attrs":{"k":3}})"));
  expect_refused(with_nodes(R"({"op":"null","name":"x","inputs":[[0,0]]})"));
  expect_refused(with_nodes(R"({"op":"null","name":"\ud800","inputs":[]})"));
  expect_refused(with_nodes(R"({"op":"null","name":"\q","inputs":[]})"));
  expect_refused(with_nodes(R"({"op":"null","name":"x)"));
}

TEST(SavedGraph, CyclesAreErrors) {
  const std::string loop =
      R"({"nodes":[{"op":"a","name":"one","inputs":[[1,0]]},{"op":"a","name":"two",)"
      R"("inputs":[[0,0]]}],"arg_nodes":[],"heads":[[0,0]]})";
  EXPECT_NE(error_of(loop).find("cycle"), std::string::npos);
  const std::string dependency =
      R"({"nodes":[{"op":"a","name":"one","inputs":[],"control_deps":[0]}],"arg_nodes":[],)"
      R"("heads":[[0,0]]})";
  EXPECT_NE(error_of(dependency).find("one"), std::string::npos);
}

TEST(SavedGraph, NestingIsBounded) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i)
    deep += R"({"nodes":[{"op":"a","name":"n","inputs":[],"subgraphs":[)";
  EXPECT_NE(error_of(deep).find("nested"), std::string::npos);
  error_of(R"({"nodes":[],"arg_nodes":[],"heads":[],"attrs":{"a":)" + std::string(1'000'000, '['));
}

// Every prefix, and every byte replaced: an error or a graph that is written and read again.
TEST(SavedGraph, DamagedFilesAreErrorsOrGraphs) {
  SavedGraph graph = two_nodes();
  graph.nodes[1].attrs = {{"k", "v"}};
  graph.nodes[1].subgraphs.push_back(two_nodes());
  graph.version = 10901;
  const std::string text = print_saved_graph(graph);
  for (std::size_t i = 0; i < text.size(); ++i) {
    check_saved_graph(text.substr(0, i));
    for (const char c : {'"', '{', '9', '\\', '\xff'}) {
      std::string damaged = text;
      damaged[i] = c;
      check_saved_graph(damaged);
    }
  }
}

}  // namespace
}  // namespace mxnet::ir
