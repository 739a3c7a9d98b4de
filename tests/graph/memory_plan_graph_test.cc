// SPDX-License-Identifier: Apache-2.0
// Memory of whole graphs: what lives at one time never shares bytes (checked step by step with the
// graph's own inputs, not with what the planner says), in-place where that is allowed.
#include "graph/memory_plan_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "graph/branches.h"
#include "graph/graphs.h"
#include "graph/memory_plan_order.h"

namespace mxnet {
namespace {

const Shape kShape{4, 16};  // 256 bytes
constexpr std::size_t kBytes = 256;

GraphMemory plan(const IndexedGraph& graph, bool inplace = true, int match_range = 16) {
  GraphMemoryOptions options;
  options.inplace = inplace;
  options.packing.match_range = match_range;
  options.direct_outputs.assign(graph.outputs().size(), true);
  return plan_memory(graph, types_of(graph, kShape), schedule_nodes(graph, INT_MAX).nodes, options);
}

// Runs the graph on labels instead of numbers: each step finds in its inputs' memory what their
// producers have put there.
void expect_values_survive(const IndexedGraph& graph, const GraphMemory& memory,
                           const std::vector<ArrayType>& types, const std::vector<int>& schedule) {
  std::vector<std::vector<int>> arenas;  // the entry in each line
  for (std::size_t bytes : memory.arenas) arenas.emplace_back(bytes / kArenaAlignment, -1);
  std::vector<int> outputs(graph.outputs().size(), -1);
  const auto bytes_of = [&](int entry) {
    const ArrayType& type = types[static_cast<std::size_t>(entry)];
    return arena_bytes(static_cast<std::size_t>(type.shape.size()) * dtype_size(type.dtype));
  };
  const auto each_line = [&](int entry, const auto& visit) {
    const Place& place = memory.places[static_cast<std::size_t>(entry)];
    if (place.kind == Place::Kind::kOutput) visit(outputs[static_cast<std::size_t>(place.index)]);
    if (place.kind != Place::Kind::kArena) return;
    for (std::size_t b = 0; b < bytes_of(entry); b += kArenaAlignment)
      visit(arenas.at(static_cast<std::size_t>(place.index))
                .at((place.offset + b) / kArenaAlignment));
  };
  for (int n : schedule) {
    for (int entry : graph.inputs(n))
      each_line(entry, [&](int found) { EXPECT_EQ(found, entry) << graph.node(n).name; });
    for (int o = 0; o < graph.num_outputs(n); ++o)
      each_line(graph.first_entry(n) + o, [&](int& line) { line = graph.first_entry(n) + o; });
  }
  for (int entry : graph.outputs())
    each_line(entry, [&](int found) { EXPECT_EQ(found, entry) << "as an output"; });
}

// The same of a graph of which some steps run twice, with a half of each value.
class Halves {
 public:
  Halves(const IndexedGraph& graph, const GraphMemory& memory, const std::vector<int>& schedule,
         const Turns& turns)
      : graph_(graph), memory_(memory), schedule_(schedule), turns_(turns) {
    lines_.resize(memory.arena_bytes / kArenaAlignment, -1);
    outputs_.resize(graph.outputs().size() * kLines, -1);
  }

  void run() {
    const int end = static_cast<int>(schedule_.size());
    for (int step = 0; step < end; ++step) {
      if (step == turns_.first)
        for (int half = 0; half < 2; ++half)
          for (int s = turns_.first; s <= turns_.last; ++s) run(s, half, half + 1);
      if (step < turns_.first || step > turns_.last) run(step, 0, 2);
    }
    for (const int entry : graph_.outputs()) find(entry, 0, 2, "the end");
  }

 private:
  static constexpr int kLines = kBytes / kArenaAlignment;

  bool is_within(int step) const { return step >= turns_.first && step <= turns_.last; }
  bool is_half(int entry) const {
    for (int s = 0; s < static_cast<int>(schedule_.size()); ++s) {
      const int n = schedule_[static_cast<std::size_t>(s)];
      const std::span<const int> inputs = graph_.inputs(n);
      const bool touches =
          n == graph_.node_of(entry) || std::ranges::find(inputs, entry) != inputs.end();
      if (touches && !is_within(s)) return false;
    }
    return std::ranges::find(graph_.outputs(), entry) == graph_.outputs().end();
  }
  int* line(int entry, int half) {
    const Place& place = memory_.places[static_cast<std::size_t>(entry)];
    const int behind = is_half(entry) ? 0 : half * kLines / 2;
    if (place.kind == Place::Kind::kOutput) return &outputs_.at(place.index * kLines + behind);
    if (place.kind != Place::Kind::kArena) return nullptr;
    return &lines_.at(place.offset / kArenaAlignment + behind);
  }
  void find(int entry, int first, int last, const std::string& who) {
    for (int half = first; half < last; ++half)
      for (int i = 0; i < kLines / 2; ++i)
        if (const int* at = line(entry, half)) {
          EXPECT_EQ(at[i], 2 * entry + half) << who;
        }
  }
  void run(int step, int first, int last) {
    const int n = schedule_[static_cast<std::size_t>(step)];
    for (const int entry : graph_.inputs(n)) find(entry, first, last, graph_.node(n).name);
    for (int o = 0; o < graph_.num_outputs(n); ++o)
      for (int half = first; half < last; ++half)
        for (int i = 0; i < kLines / 2; ++i)
          if (int* at = line(graph_.first_entry(n) + o, half))
            at[i] = 2 * (graph_.first_entry(n) + o) + half;
  }

  const IndexedGraph& graph_;
  const GraphMemory& memory_;
  const std::vector<int>& schedule_;
  const Turns turns_;
  std::vector<int> lines_, outputs_;
};

TEST(GraphMemory, ValuesOfTurnsAreHalfAsLargeAndSurvive) {
  Value x = variable("x");
  for (int i = 0; i < 6; ++i) x = (x + 1.0) * x;
  const IndexedGraph graph(graph_of({x + 2.0}));
  const std::vector<int> schedule = schedule_nodes(graph, INT_MAX).nodes;
  const int count = static_cast<int>(schedule.size());
  for (const bool inplace : {true, false})
    for (int first = 0; first < count - 1; ++first)
      for (int last = first; last < count - 1; ++last) {
        GraphMemoryOptions options;
        options.inplace = inplace;
        options.direct_outputs = {true};
        options.turns = {{first, last, 2}};
        const GraphMemory memory = plan_memory(graph, types_of(graph, kShape), schedule, options);
        SCOPED_TRACE(testing::Message() << first << " to " << last);
        Halves(graph, memory, schedule, options.turns[0]).run();
        if (last - first > 3) {
          EXPECT_LT(memory.unshared_bytes, plan(graph).unshared_bytes);
        }
      }
}

TEST(GraphMemory, AChainRunsInThePlaceOfItsResult) {
  Value x = variable("x");
  for (int i = 0; i < 10; ++i) x = x + 1.0;
  const IndexedGraph graph(graph_of({x}));
  const GraphMemory memory = plan(graph);
  EXPECT_EQ(memory.arena_bytes, 0u);
  EXPECT_EQ(memory.output_bytes, kBytes);
  EXPECT_EQ(memory.unshared_bytes, 10 * kBytes);
}

TEST(GraphMemory, WithoutInPlaceAChainNeedsTwoBuffers) {
  Value x = variable("x");
  for (int i = 0; i < 10; ++i) x = x + 1.0;
  const IndexedGraph graph(graph_of({x}));
  EXPECT_EQ(plan(graph, /*inplace=*/false).arena_bytes, 2 * kBytes);
}

TEST(GraphMemory, MatchRangeZeroSharesNothing) {
  Value x = variable("x");
  for (int i = 0; i < 10; ++i) x = x + 1.0;
  const IndexedGraph graph(graph_of({x}));
  EXPECT_EQ(plan(graph, /*inplace=*/false, 0).arena_bytes, 9 * kBytes);
}

TEST(GraphMemory, AnInputOfTheCallerIsNotOverwritten) {
  const Value x = variable("x");
  const IndexedGraph graph(graph_of({x + 1.0, x + 2.0}));
  const GraphMemory memory = plan(graph);
  EXPECT_EQ(memory.places[static_cast<std::size_t>(graph.entry(x.entry()))].kind,
            Place::Kind::kVariable);
  EXPECT_EQ(memory.output_bytes, 2 * kBytes);
}

TEST(GraphMemory, AValueThatIsTwoOutputsIsComputedOnceAndDelivered) {
  const Value y = variable("x") + 1.0;
  const IndexedGraph graph(graph_of({y, y}));
  const GraphMemory memory = plan(graph);
  ASSERT_EQ(memory.deliveries.size(), 1u);
  EXPECT_EQ(memory.deliveries[0].output, 1);
  EXPECT_EQ(memory.arena_bytes, 0u);
}

TEST(GraphMemory, AMatrixProductDoesNotOverwriteItsInput) {
  Value x = variable("x") + 1.0;
  const Value y = apply("dot", {x, x}, {{"transpose_b", "True"}}) + 1.0;
  const IndexedGraph graph(graph_of({y}));
  const std::vector<ArrayType> types = types_of(graph, kShape);
  expect_values_survive(graph, plan(graph), types, schedule_nodes(graph, INT_MAX).nodes);
}

// Concat with the nodes of these names in place.
GraphMemory plan_joined(const IndexedGraph& graph, const std::vector<std::string>& joins) {
  GraphMemoryOptions options;
  options.direct_outputs.assign(graph.outputs().size(), true);
  for (int n = 0; n < graph.num_nodes(); ++n)
    options.joins.push_back(std::ranges::find(joins, graph.node(n).name) != joins.end());
  return plan_memory(graph, types_of(graph, kShape), schedule_nodes(graph, INT_MAX).nodes, options);
}

Value joined(std::string name, const std::vector<Value>& parts) {
  return named(std::move(name),
               apply("Concat", parts, {{"num_args", std::to_string(parts.size())}, {"dim", "0"}}));
}

TEST(GraphMemory, PartsAreComputedWhereTheyAreJoined) {
  const Value x = variable("x"), a = x + 1.0, b = x * 2.0, c = a * 3.0;
  const Value inner = joined("inner", {a, b}), outer = joined("outer", {c, inner});
  // `a` is read after it was joined.
  const Value y = apply("sum", {outer}) + apply("sum", {a});
  const IndexedGraph graph(graph_of({y}));
  const GraphMemory memory = plan_joined(graph, {"inner", "outer"});
  const auto offset = [&](const Value& value) {
    const Place& place = memory.places[static_cast<std::size_t>(graph.entry(value.entry()))];
    EXPECT_EQ(place.kind, Place::Kind::kArena);
    return place.offset;
  };
  const std::size_t start = offset(outer);
  EXPECT_EQ(offset(c), start);
  EXPECT_EQ(offset(inner), start + kBytes);
  EXPECT_EQ(offset(a), start + kBytes);
  EXPECT_EQ(offset(b), start + 2 * kBytes);
  EXPECT_GE(memory.arena_bytes, 3 * kBytes);
}

TEST(GraphMemory, WhatLiesElsewhereOrTwiceIsNotComputedInPlace) {
  const Value x = variable("x"), a = x + 1.0, b = x * 2.0, out = x * 5.0;
  // A variable, a value that comes twice, a value that is an output, and a join that is one.
  const Value given = joined("given", {a, x}), twice = joined("twice", {b, b});
  const Value shown = joined("shown", {out, x + 6.0}), whole = joined("whole", {x * 9.0, x * 4.0});
  const IndexedGraph graph(
      graph_of({apply("sum", {given}), apply("sum", {twice}), out, apply("sum", {shown}), whole}));
  const GraphMemory memory = plan_joined(graph, {"given", "twice", "shown", "whole"});
  expect_values_survive(graph, memory, types_of(graph, kShape),
                        schedule_nodes(graph, INT_MAX).nodes);
}

TEST(GraphMemory, BackwardResultsAreNotTouchedInTheForwardPart) {
  // y = (x + 1) * 2 is forward; its "gradient" continues in place of y's input.
  const Value a = variable("x") + 1.0, b = a * 2.0;
  const IndexedGraph graph(graph_of({b, a * 3.0}));
  const Schedule schedule = schedule_nodes(graph, 1);
  GraphMemoryOptions options;
  options.direct_outputs = {true, true};
  options.backward_output = 1;
  options.backward_step = schedule.num_forward;
  const GraphMemory memory = plan_memory(graph, types_of(graph, kShape), schedule.nodes, options);
  const Place& place = memory.places[static_cast<std::size_t>(graph.entry(a.entry()))];
  EXPECT_EQ(place.kind, Place::Kind::kArena);
}

TEST(Branches, TheLongestWayHasTheFirstColor) {
  const Value x = variable("x");
  const Value wide = named("wide", apply("dot", {apply("relu", {x}), x}));
  const Value narrow = named("narrow", apply("relu", {x}) * 2.0);
  const Value sum = named("sum", wide + narrow);
  const IndexedGraph graph(graph_of({sum}));
  const std::vector<ArrayType> types = types_of(graph, {8, 8});
  const auto color = [&](const std::vector<int>& colors, const Value& value) {
    return colors[static_cast<std::size_t>(graph.index_of(*value.entry().node))];
  };
  const std::vector<int> two = color_branches(graph, types, 2);
  EXPECT_EQ(color(two, wide), 0);
  EXPECT_EQ(color(two, sum), 0);
  EXPECT_EQ(color(two, narrow), 1);
  for (int one : color_branches(graph, types, 1)) EXPECT_EQ(one, 0);
}

TEST(Branches, MoreColorsThanWaysAreNoMatter) {
  const IndexedGraph graph(graph_of({apply("relu", {variable("x")})}));
  for (int color : color_branches(graph, types_of(graph, {2}), 30)) EXPECT_EQ(color, 0);
}

// Random graphs of elementwise operators and products of square matrices.
TEST(GraphMemory, EveryValueSurvivesUntilItsLastUse) {
  const unsigned seed = 4711;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 150; ++round) {
    std::vector<Value> values{variable("a"), variable("b")};
    const int count = 2 + static_cast<int>(random() % 40);
    for (int i = 0; i < count; ++i) {
      const auto pick = [&] {
        const std::size_t recent = std::min<std::size_t>(values.size(), 6);
        return values[values.size() - 1 - random() % recent];
      };
      Value made;
      switch (random() % 4) {
        case 0:
          made = pick() + pick();
          break;
        case 1:
          made = pick() * 0.5;
          break;
        case 2:
          made = apply("dot", {pick(), pick()});
          break;
        default:
          made = apply("relu", {pick()});
      }
      values.push_back(named("v" + std::to_string(i), made));
    }
    ir::Graph outputs = graph_of({values.back(), values[2 + random() % (values.size() - 2)]});
    if (round % 3 == 0) outputs.outputs.pop_back();
    const IndexedGraph graph(outputs);
    GraphMemoryOptions options;
    options.inplace = round % 2 == 0;
    options.packing.match_range = static_cast<int>(random() % 4);
    options.direct_outputs.assign(graph.outputs().size(), true);
    const std::vector<ArrayType> types = types_of(graph, {8, 8});
    if (round % 5 == 0) options.colors = color_branches(graph, types, 2 + round % 3);
    const std::vector<int> schedule = schedule_nodes(graph, INT_MAX).nodes;
    const GraphMemory memory = plan_memory(graph, types, schedule, options);
    expect_values_survive(graph, memory, types, schedule);
    options.inplace = false;
    options.colors.clear();
    options.packing.match_range = 0;
    EXPECT_LE(memory.arena_bytes, plan_memory(graph, types, schedule, options).arena_bytes);
  }
}

}  // namespace
}  // namespace mxnet
