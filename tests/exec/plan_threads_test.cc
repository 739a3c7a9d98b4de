// SPDX-License-Identifier: Apache-2.0
// Many threads on the weights of one network, each with its own data: every one of their results is
// what one thread alone computes. Networks are tiny, so that threads meet often.
#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <thread>

#include "exec/cached_op.h"
#include "exec/plan_fixture.h"
#include "exec/predictor.h"

namespace mxnet {
namespace {

constexpr unsigned kSeed = 23;
constexpr int kThreads = 8, kCalls = 1000;
constexpr int kBatch = 2, kWidth = 4;

// One network, and data and expected results of each thread.
class PlanThreads : public testing::Test {
 protected:
  PlanThreads() : mlp_(2, kBatch, kWidth, kSeed), arrays_(mlp_.arrays()) {
    for (int t = 0; t < kThreads; ++t) {
      data_.push_back(random_array({kBatch, kWidth}, mlp_.random));
      expected_.push_back(run_eagerly(mlp_.graph, arrays_of(t), false).outputs[0]);
    }
  }

  // Handles of the thread's own, with its data first.
  std::vector<NDArray> arrays_of(int thread) const {
    std::vector<NDArray> arrays;
    for (const NDArray& array : arrays_) arrays.push_back(array.detach());
    arrays[0] = data_[static_cast<std::size_t>(thread)].detach();
    return arrays;
  }
  ir::Graph graph() const { return mlp_.graph; }

  // `forward(thread)` is made on the thread itself, then called again and again by it alone.
  void expect_same_results(const std::function<std::function<Values()>(int)>& forward) const {
    SCOPED_TRACE(kSeed);
    std::barrier start(kThreads);
    std::vector<int> wrong(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const auto mine = static_cast<std::size_t>(t);
        const std::function<Values()> call = forward(t);
        start.arrive_and_wait();
        for (int i = 0; i < kCalls; ++i) wrong[mine] += call() != expected_[mine];
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(kThreads));
  }

 private:
  Mlp mlp_;
  const std::vector<NDArray> arrays_;
  std::vector<NDArray> data_;
  std::vector<Values> expected_;
};

TEST_F(PlanThreads, OneCachedOp) {
  CachedOpFlags flags;
  flags.static_alloc = flags.static_shape = true;
  CachedOp op(graph(), flags);
  expect_same_results([&](int thread) {
    return [&op, arrays = arrays_of(thread)]() mutable {
      std::vector<NDArray*> inputs;
      for (NDArray& array : arrays) inputs.push_back(&array);
      NDArray out;
      op.invoke(inputs, std::array<NDArray*, 1>{&out}, Device::cpu());
      return values_of(out);
    };
  });
  EXPECT_EQ(op.num_plans(), 1);
}

TEST_F(PlanThreads, PredictorsOfOneModel) {
  PredictModel model{graph(), {}, Device::cpu()};
  const IndexedGraph indexed(graph());
  const std::vector<NDArray> weights = arrays_of(0);
  for (std::size_t i = 1; i < weights.size(); ++i)
    model.parameters[indexed.node(indexed.arguments()[i]).name] = weights[i];
  const auto shared = std::make_shared<const PredictModel>(std::move(model));
  expect_same_results([&](int thread) {
    auto predictor = std::make_shared<Predictor>(
        shared, std::map<std::string, Shape>{{"data", {kBatch, kWidth}}},
        std::map<std::string, DType>{{"data", DType::kFloat32}});
    return [predictor, data = values_of(arrays_of(thread)[0])] {
      predictor->set_input("data", data.data(), static_cast<int64_t>(data.size()));
      predictor->forward();
      return values_of(predictor->output(0));
    };
  });
}

TEST_F(PlanThreads, ExecutorsOnOneSetOfWeights) {
  expect_same_results([&](int thread) {
    auto executor =
        std::make_shared<Executor>(graph(), Device::cpu(), bind_arrays(arrays_of(thread)));
    return [executor] {
      executor->forward(false);
      return values_of(executor->outputs()[0]);
    };
  });
}

}  // namespace
}  // namespace mxnet
