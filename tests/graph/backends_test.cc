// SPDX-License-Identifier: Apache-2.0
// Backends by name, and the options that a caller gives one of them.
#include "graph/backends.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "op/op_def.h"
#include "setting.h"
#include "symbols.h"

namespace mxnet::graph_test {
namespace {

// Takes the operator that the option `op` names.
class Choosy final : public Partitioner {
 public:
  explicit Choosy(std::string op = "exp") : op_(std::move(op)) {}
  bool selects(const ir::Node& node) const override { return node.op->name() == op_; }
  std::shared_ptr<const Partitioner> with_options(AttrList options) const override {
    for (const auto& [key, value] : options)
      if (key == "op") return std::make_shared<Choosy>(std::string(value));
    return nullptr;
  }

 private:
  const std::string op_;
};

// A registered backend, gone at the end of a scope.
class Registered {
 public:
  Registered() { register_backend("graph_test", std::make_shared<Choosy>()); }
  ~Registered() { remove_backend("graph_test"); }
};

Symbol twice(const char* op) {
  const Symbol half = call(op, "first", {var("a")});
  return call(op, "second", {call("cos", "between", {half})});
}

std::vector<const ir::Node*> parts_of(const ir::Graph& graph) {
  std::vector<const ir::Node*> parts;
  for (const ir::Node* node : ir::topological_order(graph.outputs))
    if (!node->subgraphs().empty()) parts.push_back(node);
  return parts;
}

TEST(Backends, AreFoundByName) {
  register_backend("graph_test", select_operators({"exp"}));
  EXPECT_TRUE(backend("graph_test")->selects(*call("exp", "e", {var("x")}).node()));
  EXPECT_TRUE(remove_backend("graph_test"));
  EXPECT_FALSE(remove_backend("graph_test"));
  EXPECT_EQ(backend("MKLDNN"), nullptr);
  const std::string message = message_of([] { backend("graph_test"); });
  EXPECT_NE(message.find("ONEDNN"), message.npos) << message;
}

TEST(Backends, GetTheirOwnOptions) {
  const Registered registered;
  const ir::Graph graph = call("sin", "s", {call("exp", "e", {var("a")})}).graph();
  const auto taken = [&](const Attrs& options) {
    const ir::Graph made = optimize_for_backend(graph, "graph_test", options, {});
    return parts_of(made).at(0)->subgraphs()[0]->outputs[0].node->op->name();
  };
  EXPECT_EQ(taken({}), "exp");
  EXPECT_EQ(taken({{"op", "sin"}}), "sin");
}

TEST(Backends, RefuseOptionsThatNobodyKnows) {
  const Registered registered;
  const ir::Graph graph = twice("exp").graph();
  for (const char* name : {"graph_test", "ONEDNN", "MKLDNN_QUANTIZE"}) {
    const std::string message = message_of([&] {
      optimize_for_backend(graph, name, {{"colour", "red"}}, {});
    });
    EXPECT_NE(message.find("colour"), message.npos) << message;
    EXPECT_NE(message.find("dedup_subgraph"), message.npos) << message;
  }
  const std::string message = message_of([&] {
    optimize_for_backend(graph, "graph_test", {{"dedup_subgraph", "perhaps"}}, {});
  });
  EXPECT_NE(message.find("perhaps"), message.npos) << message;
}

// What it leaves is shown as it is; one that selects operators by that name is not asked.
TEST(Backends, OfWholeGraphsGetTypesAndOptions) {
  std::vector<std::string> seen;
  register_graph_backend("graph_test_whole",
                         [&](const ir::Graph& graph, const auto& types, const Attrs& options) {
                           seen.push_back(std::to_string(types.size()));
                           for (const auto& [key, value] : options)
                             seen.push_back(key + "=" + value);
                           return partition(graph, Choosy("sin"));
                         });
  register_backend("graph_test_whole", std::make_shared<Choosy>("exp"));
  const ir::Graph graph = call("sin", "s", {call("exp", "e", {var("a")})}).graph();
  const ir::Graph made = optimize_for_backend(graph, "graph_test_whole", {{"colour", "red"}}, {});
  EXPECT_EQ(seen, (std::vector<std::string>{"0", "colour=red"}));
  ASSERT_EQ(parts_of(made).size(), 1u);
  EXPECT_EQ(parts_of(made)[0]->subgraphs()[0]->outputs[0].node->op->name(), "sin");
  EXPECT_EQ(shown_for_backend(made, "graph_test_whole", false).outputs, made.outputs);
  EXPECT_TRUE(remove_backend("graph_test_whole"));
  EXPECT_EQ(backend("graph_test_whole"), nullptr);
  EXPECT_TRUE(graph_backend("graph_test_whole"));
  EXPECT_FALSE(graph_backend("graph_test"));
  const std::vector<std::string> others{"a_pass"};
  EXPECT_NO_THROW(check_backend("a_pass", others));
  const std::string message = message_of([&] { check_backend("nosuch", others); });
  EXPECT_NE(message.find("expected one of: ONEDNN, a_pass, graph_test_whole"), message.npos)
      << message;
}

TEST(Backends, EqualPartsShareOneGraphIfAsked) {
  const Registered registered;
  const auto graphs = [&](const Symbol& net, const char* dedup) {
    const ir::Graph made =
        optimize_for_backend(net.graph(), "graph_test", {{"dedup_subgraph", dedup}}, {});
    const auto parts = parts_of(made);
    EXPECT_EQ(parts.size(), 2u);
    return parts[0]->subgraphs()[0] == parts[1]->subgraphs()[0];
  };
  EXPECT_TRUE(graphs(twice("exp"), "True"));
  EXPECT_FALSE(graphs(twice("exp"), "False"));
  // Another shape of part.
  const Symbol first = call("exp", "f", {call("exp", "e", {var("a")})});
  EXPECT_FALSE(graphs(call("exp", "g", {call("cos", "c", {first})}), "True"));
}

// What an executor says that it runs.

TEST(Backends, LayersThatRunAsOneAreShownAsOne) {
  const Symbol conv =
      call("Convolution", "c", {var("x")}, {{"kernel", "(1, 1)"}, {"num_filter", "2"}});
  const ir::Graph net = call("Activation", "r", {conv}, {{"act_type", "relu"}}).graph();
  const auto operators = [&](const char* name, bool training) {
    const ir::Graph shown = shown_for_backend(net, name, training);
    std::vector<std::string> names;
    for (const ir::Node* node : ir::topological_order(shown.outputs))
      if (!node->is_variable()) names.push_back(node->op->name());
    return names;
  };
  const std::vector<std::string> fused{"_sg_mkldnn_conv"}, plain{"Convolution", "Activation"};
  EXPECT_EQ(operators("ONEDNN", false), fused);
  EXPECT_EQ(operators("ONEDNN", true), plain);
  EXPECT_EQ(operators("NONE", false), plain);
  {
    const Setting off("MXNET_ONEDNN_ENABLED", "0");
    EXPECT_EQ(operators("ONEDNN", false), plain);
  }
  const Setting off("MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU", "1");
  EXPECT_EQ(operators("ONEDNN", false), plain);
}

TEST(Backends, PartsOfARegisteredOneAreShown) {
  const Registered registered;
  EXPECT_EQ(parts_of(shown_for_backend(twice("exp").graph(), "graph_test", true)).size(), 2u);
}

}  // namespace
}  // namespace mxnet::graph_test
