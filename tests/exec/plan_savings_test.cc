// SPDX-License-Identifier: Apache-2.0
// Rows that save memory, on networks that are planned and not run.
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "exec/network_fixture.h"
#include "exec/plan_savings.h"
#include "networks.h"

namespace mxnet {
namespace {

using plan_savings::expect_savings;

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
    expect_savings(
        plan_savings::PlanBytes([&] { return planned_bytes(symbol, data, Pass::kTraining).arena; }),
        round);
  }
}

TEST(PlanSavings, OfNetworksOfPapers) {
  for (const Symbol& network : {resnet50_v1(), vgg16()}) {
    plan_savings::PlanBytes bytes(
        [&] { return planned_bytes(network, images(32), Pass::kTraining).arena; });
    const std::size_t plain = bytes.with({});
    for (const plan_savings::Row& saving : plan_savings::saving_rows(plain))
      EXPECT_LE(bytes.with({saving}), plain) << plan_savings::text_of(saving);
  }
}

}  // namespace
}  // namespace mxnet
