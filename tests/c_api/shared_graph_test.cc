// SPDX-License-Identifier: Apache-2.0
// Passes of backward through one recorded graph: on several threads, and of one inside another.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "recorded.h"
#include "symbols.h"

namespace mxnet::c_test {
namespace {

constexpr int kThreads = 4, kRounds = 25;
constexpr uint32_t kWrite = 1, kAdd = 3;

Array matrix(const Values& values) {
  const Array flat(values);
  return call("Reshape", {flat.get()}, {{"shape", "(2, 2)"}});
}

bool is_freed() {
  return error_has("freed by an earlier backward") || error_has("not in a computational graph");
}

// A leaf and a head behind it. The leaf is used once: its buffer is written by one operation a
// pass.
struct Graph {
  Array leaf = matrix({0.1f, 0.2f, 0.3f, 0.4f}), buffer = matrix({0, 0, 0, 0}), head;
};

Graph recorded_calls(uint32_t request) {
  Graph graph;
  mark(graph.leaf, graph.buffer, request);
  const Recording recording;
  Array trunk = call("tanh", {graph.leaf.get()});
  for (int i = 0; i < 4; ++i) {
    const Array product = call("dot", {trunk.get(), graph.leaf.get()});
    trunk = call("tanh", {product.get()});
  }
  graph.head = call("elemwise_mul", {trunk.get(), graph.leaf.get()});
  return graph;
}

// The same by a cached op, whose gradient overwrites what was kept for it.
class Compiled {
 public:
  Compiled() {
    Sym leaf = var("leaf");
    Sym trunk = call_symbol("tanh", "t", {leaf.get()});
    for (int i = 0; i < 4; ++i) {
      Sym product =
          call_symbol("dot", ("d" + std::to_string(i)).c_str(), {trunk.get(), leaf.get()});
      trunk = call_symbol("tanh", ("t" + std::to_string(i)).c_str(), {product.get()});
    }
    Sym head = call_symbol("elemwise_mul", "h", {trunk.get(), leaf.get()});
    EXPECT_EQ(MXCreateCachedOp(head.get(), &op_), 0) << MXGetLastError();
  }
  ~Compiled() { EXPECT_EQ(MXFreeCachedOp(op_), 0); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  Graph recorded(uint32_t request) const {
    Graph graph;
    mark(graph.leaf, graph.buffer, request);
    const Recording recording;
    NDArrayHandle inputs[] = {graph.leaf.get()}, *outputs = nullptr;
    int count = 0;
    EXPECT_EQ(MXInvokeCachedOp(op_, 1, inputs, &count, &outputs), 0) << MXGetLastError();
    graph.head = Array(outputs[0]);
    return graph;
  }

 private:
  CachedOpHandle op_ = nullptr;
};

class SharedGraph : public testing::TestWithParam<bool> {
 protected:
  Graph record(uint32_t request = kWrite) const {
    return GetParam() ? compiled_.recorded(request) : recorded_calls(request);
  }
  Values alone() const {
    const Graph graph = record();
    return gradient_of(graph.head, graph.leaf, false).values();
  }

 private:
  const Compiled compiled_;
};

INSTANTIATE_TEST_SUITE_P(, SharedGraph, testing::Bool(),
                         [](const auto& info) { return info.param ? "OfACachedOp" : "OfCalls"; });

TEST_P(SharedGraph, IsDifferentiatedByThreadsAtOnce) {
  const Values expected = alone();
  const Graph graph = record();
  at_once(kThreads, [&](int) {
    for (int round = 0; round < kRounds; ++round) {
      const Array gradient = gradient_of(graph.head, graph.leaf, true);
      ASSERT_NE(gradient.get(), nullptr) << MXGetLastError();
      ASSERT_EQ(gradient.values(), expected);
    }
  });
}

TEST_P(SharedGraph, PassesOfThreadsAddUpInOneBuffer) {
  const Values once = alone();
  const Graph graph = record(kAdd);
  at_once(kThreads, [&](int) {
    NDArrayHandle heads[] = {graph.head.get()};
    for (int round = 0; round < kRounds; ++round)
      ASSERT_EQ(MXAutogradBackward(1, heads, nullptr, 1), 0) << MXGetLastError();
  });
  const Values sums = graph.buffer.values();
  for (std::size_t i = 0; i < sums.size(); ++i)
    EXPECT_NEAR(sums[i] / (kThreads * kRounds), once[i], 1e-5F * once[i]);
}

TEST_P(SharedGraph, PassesThatFreeItLeaveOthersWhatTheyGoThrough) {
  const Values expected = alone();
  for (int round = 0; round < kRounds; ++round) {
    const Graph graph = record();
    std::atomic<int> passes{0};
    at_once(kThreads, [&](int thread) {
      const Array gradient = gradient_of(graph.head, graph.leaf, thread % 2 == 0);
      if (gradient.get() == nullptr) {
        ASSERT_TRUE(is_freed()) << MXGetLastError();
        return;
      }
      ++passes;
      ASSERT_EQ(gradient.values(), expected);
    });
    EXPECT_GT(passes.load(), 0);
    EXPECT_EQ(gradient_of(graph.head, graph.leaf, true).get(), nullptr) << "it is not freed";
    EXPECT_TRUE(is_freed()) << MXGetLastError();
  }
}

// Of many threads some stop on their way down, and another frees what they come to: they leave the
// way as they came.
TEST(LongGraph, APassThatIsRefusedHalfwayLeavesTheRest) {
  constexpr int kManyThreads = 16, kManyRounds = 200, kLong = 500;
  for (int round = 0; round < kManyRounds; ++round) {
    const Array leaf = matrix({1, 2, 3, 4}), buffer = matrix({0, 0, 0, 0});
    mark(leaf, buffer);
    const Array head = [&] {
      const Recording recording;
      Array chain = call("negative", {leaf.get()});
      for (int i = 1; i < kLong; ++i) chain = call("negative", {chain.get()});
      return chain;
    }();
    at_once(kManyThreads, [&](int) {
      const Array gradient = gradient_of(head, leaf, false);
      if (gradient.get() == nullptr)
        ASSERT_TRUE(is_freed()) << MXGetLastError();
      else
        ASSERT_EQ(gradient.values(), Values({1, 1, 1, 1}));
    });
  }
}

TEST_P(SharedGraph, IsDifferentiatedTwiceByThreadsAtOnce) {
  const auto twice = [](const Graph& graph) {
    const Array once = [&] {
      const Recording recording;
      return gradient_of(graph.head, graph.leaf, true, true);
    }();
    EXPECT_NE(once.get(), nullptr) << MXGetLastError();
    return gradient_of(once, graph.leaf, true).values();
  };
  const Graph graph = record();
  const Values expected = twice(graph);
  at_once(kThreads, [&](int) {
    for (int round = 0; round < kRounds / 5; ++round) ASSERT_EQ(twice(graph), expected);
  });
}

// --- One pass inside another

std::function<bool()> g_inside;

int pass_on(int num_ograds, int num_igrads, void** handles, const int*, const int, void*) {
  std::vector<NDArrayHandle> out{handles[num_ograds]};
  const bool done = g_inside() && invoke("_copy", {handles[0]}, {}, &out) == 0;
  for (int i = 0; i < num_ograds + num_igrads; ++i) MXNDArrayFree(handles[i]);
  return done ? 1 : 0;
}

// The head as the result of a function that calls `inside` while it is differentiated, and fails
// where that does.
Array with_function(const Array& head, std::function<bool()> inside) {
  g_inside = std::move(inside);
  Array result = call("_copy", {head.get()});
  const Recording recording;
  static int (*functions[])() = {
      reinterpret_cast<int (*)()>(reinterpret_cast<void (*)()>(pass_on))};
  static void* contexts[1] = {};
  MXCallbackList callbacks{1, functions, contexts};
  NDArrayHandle inputs[] = {head.get()}, outputs[] = {result.get()};
  EXPECT_EQ(MXCustomFunctionRecord(1, inputs, 1, outputs, &callbacks), 0) << MXGetLastError();
  return result;
}

TEST_P(SharedGraph, APassInsideAnotherLeavesItWhatItIsYetToRead) {
  const Values expected = alone();
  for (const bool outer : {false, true}) {
    for (const bool inner : {false, true}) {
      const Graph graph = record();
      Values seen;
      const Array head = with_function(graph.head, [&] {
        seen = gradient_of(graph.head, graph.leaf, inner).values();
        return true;
      });
      EXPECT_EQ(gradient_of(head, graph.leaf, outer).values(), expected) << outer << inner;
      EXPECT_EQ(seen, expected) << outer << inner;
      // What one of them was to free is freed once both have ended.
      const bool stays = gradient_of(graph.head, graph.leaf, true).get() != nullptr;
      EXPECT_EQ(stays, outer && inner) << outer << inner;
    }
  }
}

// What it had for itself it gives back.
TEST_P(SharedGraph, APassThatFailsLeavesTheGraph) {
  const Values expected = alone();
  const Graph graph = record();
  bool works = false;
  const Array head = with_function(graph.head, [&] { return works; });
  EXPECT_EQ(gradient_of(head, graph.leaf, false).get(), nullptr);
  EXPECT_TRUE(error_has("its backward has failed")) << MXGetLastError();
  works = true;
  EXPECT_EQ(gradient_of(head, graph.leaf, false).values(), expected);
}

}  // namespace
}  // namespace mxnet::c_test
