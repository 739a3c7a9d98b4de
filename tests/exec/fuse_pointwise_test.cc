// SPDX-License-Identifier: Apache-2.0
// Pointwise neighbours as one step: what is taken together, and that no bit of a result or a
// gradient depends on it.
#include <gtest/gtest.h>

#include "exec/plan_fixture.h"
#include "exec/plan_graph.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

struct Outcome {
  std::vector<Values> outputs, grads;
  std::string plan;

  int64_t steps(const std::string& text) const {
    int64_t count = 0;
    for (std::size_t at = plan.find(text); at != std::string::npos; at = plan.find(text, at + 1))
      ++count;
    return count;
  }
  // Chains of two or more.
  int64_t fused() const {
    int64_t count = 0;
    for (std::size_t at = plan.find("\n  "); at != std::string::npos;
         at = plan.find("\n  ", at + 1)) {
      const std::size_t title = plan.find('(', at);
      count += plan.substr(title, plan.find(')', title) - title).find('+') != std::string::npos;
    }
    return count;
  }
};

Outcome run(const ir::Graph& graph, const std::vector<NDArray>& args, bool training, bool fusion) {
  const Setting row("MXNET_USE_FUSION", fusion ? "1" : "0");
  std::vector<NDArray> copies;
  for (const NDArray& arg : args) copies.push_back(array_of(values_of(arg), arg.shape()));
  Executor executor(graph, Device::cpu(),
                    bind_arrays(std::move(copies), training ? Request::kWrite : Request::kNull));
  executor.forward(training);
  Outcome result;
  for (const NDArray& output : executor.outputs()) result.outputs.push_back(values_of(output));
  if (training) {
    std::vector<NDArray> heads;
    std::vector<const NDArray*> refs;
    for (const NDArray& output : executor.outputs())
      heads.push_back(
          array_of(Values(static_cast<std::size_t>(output.size()), 1.0f), output.shape()));
    for (const NDArray& head : heads) refs.push_back(&head);
    executor.backward(refs);
    for (const NDArray& grad : executor.arrays().grads) result.grads.push_back(values_of(grad));
  }
  result.plan = executor.debug_str();
  return result;
}

std::vector<NDArray> random_arguments(const ir::Graph& graph,
                                      const std::map<std::string, Shape>& shapes,
                                      std::mt19937& random) {
  const IndexedGraph indexed(graph);
  std::vector<NDArray> args;
  for (int n : indexed.arguments())
    args.push_back(random_array(shapes.at(indexed.node(n).name), random));
  return args;
}

// With and without fusion; the values must be the same bits.
Outcome check(const ir::Graph& graph, const std::map<std::string, Shape>& shapes, bool training,
              unsigned seed = 7) {
  std::mt19937 random(seed);
  const std::vector<NDArray> args = random_arguments(graph, shapes, random);
  const Outcome fused = run(graph, args, training, true), plain = run(graph, args, training, false);
  EXPECT_EQ(plain.fused(), 0);
  EXPECT_EQ(fused.outputs, plain.outputs) << "seed " << seed;
  EXPECT_EQ(fused.grads, plain.grads) << "seed " << seed;
  return fused;
}

Value add(const Value& a, const Value& b) { return apply("broadcast_add", {a, b}); }
Value scaled(const Value& a, const std::string& by) {
  return apply("_mul_scalar", {a}, {{"scalar", by}});
}

// Sizes around that of a tile, and small ones.
class Sizes : public ::testing::TestWithParam<int64_t> {};

TEST_P(Sizes, AChainIsOneStep) {
  if (!kOpenMpIsSeen && GetParam() > 4096) GTEST_SKIP() << "OpenMP would share it out";
  const Value x = variable("x"), y = variable("y");
  const Value z = apply("tanh", {scaled(add(apply("exp", {x}), y), "0.5")});
  const Outcome result = check(graph_of({z}), {{"x", {GetParam()}}, {"y", {GetParam()}}}, false);
  EXPECT_EQ(result.fused(), 1);
  EXPECT_EQ(result.steps("\n  "), 1) << result.plan;
}
// From one tile to results that are written past the caches.
INSTANTIATE_TEST_SUITE_P(FusePointwise, Sizes,
                         ::testing::Values(1, 3, 8191, 8193, 16384, 21845, 100003, 4194409));

// Whatever a chain is as one, on its caller's thread or not, it is apart too.
TEST(FusePointwise, RunsWhereItsOperatorsWould) {
  const Value x = variable("x"), y = variable("y"), z = variable("z");
  const ir::Graph graph = graph_of({add(apply("broadcast_mul", {x, y}), z)});
  const auto is_cheap = [&](int64_t size, bool fusion) {
    const Setting row("MXNET_USE_FUSION", fusion ? "1" : "0");
    const PlanOptions options = PlanOptions::configured(Device::cpu(), false);
    std::map<const ir::Node*, ArrayType> known;
    for (const Value& value : {x, y, z})
      known[value.entry().node.get()] = {{size}, DType::kFloat32};
    TypedGraph typed = typed_graph(graph, known, options);
    const Plan plan(std::move(typed.graph), std::move(typed.types), options);
    EXPECT_EQ(plan.steps().size(), fusion ? 1u : 2u);
    return plan.segments()[0].cheap;
  };
  for (const int64_t size : {1000, 10000, 16000, 17000, 100000})
    EXPECT_EQ(is_cheap(size, true), is_cheap(size, false)) << size;
  EXPECT_TRUE(is_cheap(16000, true));
  EXPECT_FALSE(is_cheap(17000, true));
}

TEST(FusePointwise, LargeResultsFromTheMiddleAreWholeToo) {
  if (!kOpenMpIsSeen) GTEST_SKIP() << "OpenMP would share it out";
  const Shape shape{4194409};
  const Value x = variable("x"), y = add(apply("square", {x}), x);
  const Outcome result = check(graph_of({apply("tanh", {y}), y}), {{"x", shape}}, false);
  EXPECT_EQ(result.fused(), 1);
}

TEST(FusePointwise, AnInputOfOneElementMeetsAll) {
  const Value x = variable("x"), s = variable("s");
  const Value y = apply("relu", {apply("broadcast_mul", {add(s, x), s})});
  const Outcome result = check(graph_of({y}), {{"x", {70, 90}}, {"s", {1, 1}}}, false);
  EXPECT_EQ(result.steps("\n  "), 1) << result.plan;
}

TEST(FusePointwise, OtherBroadcastsStayOperatorsOfTheirOwn) {
  const Value x = variable("x"), row = variable("row");
  const Value y = apply("relu", {add(apply("exp", {x}), row)});
  const Outcome result = check(graph_of({y}), {{"x", {70, 90}}, {"row", {1, 90}}}, false);
  EXPECT_EQ(result.fused(), 0) << result.plan;
}

TEST(FusePointwise, ValuesThatOthersReadAreResultsToo) {
  const Value x = variable("x");
  const Value a = apply("exp", {x}), b = scaled(a, "3"), c = apply("sqrt", {b});
  const Value sum = apply("sum", {a});
  const Outcome result = check(graph_of({c, b, sum}), {{"x", {5000}}}, false);
  EXPECT_EQ(result.fused(), 1);
  EXPECT_EQ(result.steps("\n  "), 2) << result.plan;
}

// d reads the sum of a, which the group of a would have to run before: a and d stay apart.
TEST(FusePointwise, NothingReadsWhatDependsOnItself) {
  const Value x = variable("x");
  const Value a = apply("exp", {x});
  const Value sum = apply("sum", {a}, {{"keepdims", "True"}});
  const Value d = apply("broadcast_div", {a, sum});
  const Outcome result = check(graph_of({apply("sqrt", {d})}), {{"x", {9, 1000}}}, false);
  EXPECT_EQ(result.fused(), 1);
  EXPECT_EQ(result.steps("\n  "), 3) << result.plan;
}

TEST(FusePointwise, LongChainsAreCutIntoSeveral) {
  Value x = variable("x");
  for (int i = 0; i < 1000; ++i)
    x = apply("_plus_scalar", {x}, {{"scalar", std::to_string(i % 7)}});
  const Outcome result = check(graph_of({x}), {{"x", {40}}}, false);
  EXPECT_EQ(result.steps("\n  "), result.fused());
  EXPECT_EQ(result.fused(), (1000 + 63) / 64);
}

TEST(FusePointwise, TypesMayChangeWithinAChain) {
  for (const char* type : {"float16", "bfloat16", "float64", "int32", "uint8"}) {
    SCOPED_TRACE(type);
    const Value x = variable("x");
    const Value wide = apply("Cast", {scaled(x, "9")}, {{"dtype", type}});
    const Value y =
        apply("Cast", {apply("square", {apply("abs", {wide})})}, {{"dtype", "float32"}});
    const Outcome result = check(graph_of({y}), {{"x", {kOpenMpIsSeen ? 9001 : 401}}}, false);
    EXPECT_EQ(result.fused(), 1) << result.plan;
  }
}

TEST(FusePointwise, GradientsAreTheSameBits) {
  const Shape shape{kOpenMpIsSeen ? 33 : 3, 257};
  const Value x = variable("x"), y = variable("y");
  const Value gate = apply("sigmoid", {add(x, y)});
  const Value out = apply("broadcast_mul", {gate, apply("tanh", {scaled(x, "2")})});
  const Outcome result = check(graph_of({out}), {{"x", shape}, {"y", shape}}, true);
  EXPECT_GT(result.fused(), 1) << result.plan;
}

// The choice and its gradients; shapes are not multiples of any vector.
TEST(FusePointwise, ChoicesAreTakenAlong) {
  for (const char* op : {"where", "_npi_where"}) {
    SCOPED_TRACE(op);
    const Shape shape{kOpenMpIsSeen ? 91 : 3, 257};
    const Value x = variable("x"), y = variable("y");
    const Value distance = apply("abs", {apply("broadcast_sub", {x, y})});
    const Value far = apply("_greater_scalar", {distance}, {{"scalar", "1"}});
    const Value near = scaled(apply("square", {distance}), "0.5");
    const Value loss = apply(op, {far, distance, near});
    EXPECT_EQ(check(graph_of({loss}), {{"x", shape}, {"y", shape}}, false).steps("\n  "), 1);
    const Outcome trained = check(graph_of({loss}), {{"x", shape}, {"y", shape}}, true);
    EXPECT_EQ(trained.steps("\n  "), 2) << trained.plan;
  }
}

TEST(FusePointwise, ChoicesOfRowsStayOperatorsOfTheirOwn) {
  const Value x = variable("x"), rows = variable("rows");
  const Value y = apply("relu", {apply("where", {rows, apply("exp", {x}), x})});
  const Outcome result = check(graph_of({y}), {{"x", {70, 90}}, {"rows", {70}}}, false);
  EXPECT_EQ(result.fused(), 0) << result.plan;
}

// Conditions of each type, and one for all.
TEST(FusePointwise, ChoicesTakeConditionsOfAnyType) {
  for (const char* type : {"float16", "float32", "float64", "uint8", "int32", "int64", "bool"}) {
    for (const Shape& shape : {Shape{77, 43}, Shape{1}}) {
      SCOPED_TRACE(type + to_string(shape));
      const Value c = variable("c"), x = variable("x");
      const Value holds = apply("Cast", {apply("relu", {c})}, {{"dtype", type}});
      const Value y = apply("_npi_where", {holds, apply("square", {x}), apply("negative", {x})});
      check(graph_of({apply("exp", {y})}), {{"c", shape}, {"x", {77, 43}}}, false);
    }
  }
}

// Neither a step of their own nor an end of what is taken together; results stay arrays of their
// own, and what changes a shape stays.
TEST(FusePointwise, ReshapesToTheSameShapeAreNothing) {
  const Value x = variable("x"), y = variable("y");
  const Value like = apply("reshape_like", {y, x});
  const Value kept = apply("Reshape", {like}, {{"shape", "(0, -1)"}});
  const Value out = apply("tanh", {apply("broadcast_sub", {kept, x})});
  const Shape shape{7, 13};
  const Outcome same = check(graph_of({out}), {{"x", shape}, {"y", shape}}, false);
  EXPECT_EQ(same.steps("\n  "), 1) << same.plan;
  // The gradient of y is a result.
  const Outcome trained = check(graph_of({out}), {{"x", shape}, {"y", shape}}, true);
  EXPECT_EQ(trained.steps("reshape_like"), 1) << trained.plan;
  const Outcome other = check(graph_of({out}), {{"x", shape}, {"y", {13, 7}}}, false);
  EXPECT_EQ(other.steps("reshape_like"), 1) << other.plan;
  const Outcome result = check(graph_of({like}), {{"x", shape}, {"y", shape}}, false);
  EXPECT_EQ(result.steps("reshape_like"), 1) << result.plan;
}

TEST(FusePointwise, TakesNoMoreMemory) {
  const Value x = variable("x");
  Value a = apply("exp", {x}), b = apply("sin", {x});
  for (int i = 0; i < 6; ++i) {
    a = apply("elemwise_add", {a, b});
    b = apply("sqrt", {apply("abs", {a})});
  }
  const ir::Graph graph = graph_of({apply("elemwise_mul", {a, b})});
  const std::map<const ir::Node*, ArrayType> known{
      {x.entry().node.get(), {{50000}, DType::kFloat32}}};
  const auto bytes = [&](bool fusion) {
    const Setting row("MXNET_USE_FUSION", fusion ? "1" : "0");
    const PlanOptions options = PlanOptions::configured(Device::cpu(), false);
    TypedGraph typed = typed_graph(graph, known, options);
    return Plan(std::move(typed.graph), std::move(typed.types), options).memory().arena_bytes;
  };
  EXPECT_LE(bytes(true), bytes(false));
}

// Graphs of all kinds of pointwise operators, with values that are read more than once, reductions
// in between and results from the middle.
TEST(FusePointwise, RandomGraphsGiveTheSameBits) {
  static constexpr const char* kUnary[] = {"tanh",     "relu", "square",   "sigmoid",
                                           "negative", "abs",  "softsign", "sin"};
  static constexpr const char* kBinary[] = {"elemwise_add", "elemwise_mul", "broadcast_sub",
                                            "_maximum", "_npi_add"};
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) {
      return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    const int64_t size = below(2) == 0 ? 30 : kOpenMpIsSeen ? 5000 : 500;
    std::vector<Value> values{variable("x"), variable("y")};
    for (int i = 0; i < 25; ++i) {
      const Value a = values[below(values.size())], b = values[below(values.size())];
      switch (below(6)) {
        case 0:
        case 1:
          values.push_back(apply(kUnary[below(std::size(kUnary))], {a}));
          break;
        case 2:
          values.push_back(scaled(a, "0.75"));
          break;
        case 3: {
          const Value mean = apply("mean", {a}, {{"keepdims", "True"}});
          values.push_back(apply("broadcast_sub", {b, mean}));
          break;
        }
        default:
          values.push_back(apply(kBinary[below(std::size(kBinary))], {a, b}));
      }
    }
    const ir::Graph graph = graph_of({values.back(), values[below(values.size() - 2) + 2]});
    std::map<std::string, Shape> shapes{{"x", {size}}, {"y", {size}}};
    check(graph, shapes, seed % 2 == 0, seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace mxnet
