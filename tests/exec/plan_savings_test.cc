// SPDX-License-Identifier: Apache-2.0
// Rows that save memory: none of them makes a plan larger, alone or beside any other row.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exec/network_fixture.h"
#include "networks.h"

namespace mxnet {
namespace {

using Row = std::pair<const char*, std::string>;
using Bytes = std::function<std::size_t()>;

// Rows that save memory, with budgets of which some are kept without doing anything and some never.
std::vector<Row> saving_rows(std::size_t plain) {
  return {{"MXNET_BACKWARD_DO_MIRROR", "1"},
          {"MXNET_MEMORY_OPT", "1"},
          {"MXNET_BACKWARD_MIRROR_BUDGET", "1"},
          {"MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(1 + plain * 6 / 10)},
          {"MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(1 + plain * 9 / 10)},
          {"MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(2 * plain + 1)},
          {"NNVM_AUTO_SEARCH_MATCH_RANGE", "1"}};
}

// What else changes a plan, most of it to the worse.
const std::vector<Row> kOtherRows = {
    {"MXNET_EXEC_ENABLE_INPLACE", "0"},   {"NNVM_EXEC_MATCH_RANGE", "0"},
    {"NNVM_EXEC_MATCH_RANGE", "2"},       {"MXNET_USE_FUSION", "0"},
    {"MXNET_EXEC_BULK_EXEC_TRAIN", "0"},  {"MXNET_SUBGRAPH_BACKEND", "NONE"},
    {"MXNET_ELIMINATE_COMMON_EXPR", "0"}, {"MXNET_EXEC_NUM_TEMP", "2"}};

std::string text_of(const Row& row) { return std::string(row.first) + "=" + row.second; }

// Each row that saves memory, beside each of `others`.
void expect_savings(const Bytes& bytes, const std::vector<Row>& others) {
  for (const Row& other : others) {
    const Setting first(other.first, other.second);
    const std::size_t without = bytes();
    for (const Row& saving : saving_rows(without)) {
      if (saving.first == std::string_view(other.first)) continue;
      const Setting second(saving.first, saving.second);
      EXPECT_LE(bytes(), without) << text_of(saving) << " beside " << text_of(other);
    }
  }
}

std::size_t bytes_with(const Row& row, const Bytes& bytes) {
  const Setting setting(row.first, row.second);
  return bytes();
}

// Each of them alone, beside each other one, and beside some other row; and what is on by default
// is worth it.
void expect_savings(const Bytes& bytes, std::size_t round) {
  const std::size_t plain = bytes();
  for (const Row& saving : saving_rows(plain))
    EXPECT_LE(bytes_with(saving, bytes), plain) << text_of(saving);
  EXPECT_LE(bytes_with({"MXNET_MEMORY_OPT", "1"}, bytes),
            bytes_with({"MXNET_BACKWARD_DO_MIRROR", "1"}, bytes));
  for (const char* name :
       {"MXNET_USE_FUSION", "MXNET_EXEC_ENABLE_INPLACE", "NNVM_EXEC_MATCH_RANGE"}) {
    EXPECT_LE(plain, bytes_with({name, "0"}, bytes)) << name;
  }
  expect_savings(bytes, saving_rows(plain));
  expect_savings(bytes, {kOtherRows[round % kOtherRows.size()]});
}

std::size_t training_bytes(Executor executor) {
  executor.forward(true);  // compiles
  return executor.pool()->bytes();
}

TEST(PlanSavings, OfRandomGraphs) {
  const unsigned seed = 77;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (std::size_t round = 0; round < 16 && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    const ir::Graph graph = random_graph(random);
    std::vector<NDArray> args;
    for (std::size_t i = 0; i < IndexedGraph(graph).arguments().size(); ++i)
      args.push_back(random_array({4, 4}, random));
    const auto bytes = [&] {
      return training_bytes(Executor(graph, Device::cpu(), bind_arrays(args, Request::kWrite)));
    };
    expect_savings(bytes, round);
  }
}

// Convolutions with what follows them, sums with values from further back, and joins.
Value random_layers(Network& network, std::mt19937& random) {
  struct Layer {
    Value value;
    int64_t channels;
  };
  std::vector<Layer> layers{{network.data(), 3}};
  const std::size_t count = 3 + random() % 8;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const Layer& from =
        layers[layers.size() - 1 - random() % std::min<std::size_t>(layers.size(), 3)];
    const int64_t channels = 4 << random() % 3;
    Value made = network.conv(name, from.value, from.channels, channels, random() % 2 != 0 ? 3 : 1,
                              random() % 2 != 0);
    if (random() % 2 != 0) made = network.batch_norm(name + "_norm", made, channels);
    if (random() % 3 != 0) made = named(name + "_relu", apply("relu", {made}));
    const Layer& last = layers.back();
    Layer next{made, channels};
    if (last.channels == channels && random() % 2 != 0)
      next.value = made + last.value;
    else if (random() % 4 == 0)
      next = {apply("Concat", {made, last.value}, {{"num_args", "2"}, {"dim", "1"}}),
              channels + last.channels};
    layers.push_back(next);
  }
  return apply("Pooling", {layers.back().value},
               {{"global_pool", "True"}, {"pool_type", "avg"}, {"kernel", "(1,1)"}});
}

TEST(PlanSavings, OfRandomNetworks) {
  const unsigned seed = 78;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (std::size_t round = 0; round < 8 && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    const Shape data{2, 3, 12, 12};
    Network network(data);
    const Symbol symbol(graph_of({random_layers(network, random)}));
    expect_savings([&] { return planned_bytes(symbol, data, Pass::kTraining).arena; }, round);
  }
}

TEST(PlanSavings, OfNetworksOfPapers) {
  for (const Symbol& network : {resnet50_v1(), vgg16()}) {
    const Bytes bytes = [&] { return planned_bytes(network, images(32), Pass::kTraining).arena; };
    const std::size_t plain = bytes();
    for (const Row& saving : saving_rows(plain))
      EXPECT_LE(bytes_with(saving, bytes), plain) << text_of(saving);
  }
}

}  // namespace
}  // namespace mxnet
