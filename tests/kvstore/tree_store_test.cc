// SPDX-License-Identifier: Apache-2.0
// Stores that sum along trees over simulated GPUs.
#include <gtest/gtest.h>

#include <random>

#include "base/config.h"
#include "device/sim/sim_control.h"
#include "kvstore/link_tree.h"
#include "kvstore/local_store.h"
#include "kvstore/stores.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)
using Some = std::vector<Key>;
using Arrays = std::vector<NDArray>;

SimControl& control() { return *sim_control(device_api(DeviceType::kGPU)); }

std::unique_ptr<KvstoreConfig> tree_config() {
  auto config = std::make_unique<KvstoreConfig>();
  config->usetree = true;
  config->tree_array_bound = 1000;
  return config;
}

Arrays integers_on_gpus(const Shape& shape, int gpus, uint32_t seed) {
  std::mt19937 random(seed);
  Arrays arrays;
  for (int g = 0; g < gpus; ++g) {
    std::vector<float> numbers(static_cast<std::size_t>(shape.size()));
    for (float& x : numbers) x = static_cast<float>(static_cast<int>(random() % 2001) - 1000);
    arrays.push_back(make(shape, numbers, Device::gpu(g)));
  }
  return arrays;
}

std::vector<float> plain_sum(const Arrays& arrays) {
  std::vector<float> sum = floats(arrays[0]);
  for (std::size_t k = 1; k < arrays.size(); ++k) {
    const std::vector<float> next = floats(arrays[k]);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += next[i];
  }
  return sum;
}

TEST(TreeStore, SumsAreThoseOfThePlainStore) {
  const auto config = tree_config();
  for (const int gpus : {1, 2, 3, 5, 8}) {
    for (const int64_t size : {int64_t{7}, int64_t{1000}, int64_t{4099}}) {
      LocalStore store(parse_store_type("device"), *config);
      const Shape shape{size};
      store.init(Some{0}, Arrays{filled(shape, 0)});
      const Arrays values = integers_on_gpus(shape, gpus, 5);
      const std::vector<float> expected = plain_sum(values);
      push(store, 0, values);
      const Arrays outs = integers_on_gpus(shape, gpus, 6);
      store.pull(same_key(0, outs.size()), outs, 0, true);
      for (const NDArray& out : outs) EXPECT_EQ(floats(out), expected) << gpus << " " << size;
      store.push_pull(same_key(0, values.size()), values, same_key(0, values.size()), values, 0);
      for (const NDArray& value : values) EXPECT_EQ(floats(value), expected) << gpus << " " << size;
      EXPECT_EQ(pulled(store, 0, shape), expected);
    }
  }
}

// Links between the simulated GPUs, until the end of a test.
class Links {
 public:
  explicit Links(const LinkMatrix& links) {
    for (int a = 0; a < links.devices(); ++a)
      for (int b = 0; b < a; ++b) control().set_link_weight(a, b, links.at(a, b));
  }
  ~Links() {
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < a; ++b) control().set_link_weight(a, b, 1);
  }
};

TEST(TreeStore, BytesTravelOnlyOverLinks) {
  LinkMatrix line(4);  // 0 - 1 - 2 - 3
  for (int a = 1; a < 4; ++a) line.set(a, a - 1, 1);
  const Links now(line);
  const auto staged = [&](bool tree) {
    const auto config = tree_config();
    config->usetree = tree;
    LocalStore store(parse_store_type("device"), *config);
    const Shape shape{100};
    store.init(Some{0}, Arrays{filled(shape, 0)});
    const Arrays values = integers_on_gpus(shape, 4, 5);
    Engine::get().wait_for_all();
    uint64_t before = 0, after = 0;
    for (int g = 0; g < 4; ++g) before += control().stats(g).staged;
    store.push_pull(same_key(0, 4), values, same_key(0, 4), values, 0);
    Engine::get().wait_for_all();
    for (int g = 0; g < 4; ++g) after += control().stats(g).staged;
    return after - before;
  };
  EXPECT_EQ(staged(true), 0U);
  EXPECT_GT(staged(false), 0U) << "the plain store goes through the host where there is no link";
}

TEST(TreeStore, BigArraysAreSplitOverTrees) {
  // Copies between GPUs for one push of `size` elements: each tree over four GPUs has three links.
  const auto peer_copies = [](int64_t size) {
    const auto config = tree_config();
    LocalStore store(parse_store_type("device"), *config);
    store.init(Some{0}, Arrays{filled({size}, 0)});
    const Arrays values = integers_on_gpus({size}, 4, 5);
    push(store, 0, values);
    Engine::get().wait_for_all();
    const auto count = [] {
      uint64_t sum = 0;
      for (int g = 0; g < 4; ++g) sum += control().stats(g).peer;
      return sum;
    };
    const uint64_t before = count();
    push(store, 0, values);
    Engine::get().wait_for_all();
    return count() - before;
  };
  EXPECT_EQ(peer_copies(1000), 3U);
  EXPECT_EQ(peer_copies(1001), 4U * 3U + 3U) << "four slices, three of them brought together";
}

TEST(TreeStore, FloatsAreTheSameFromRunToRun) {
  const auto config = tree_config();
  std::vector<float> first;
  for (int run = 0; run < 5; ++run) {
    LocalStore store(parse_store_type("device"), *config);
    const Shape shape{3000};
    store.init(Some{0}, Arrays{filled(shape, 0)});
    Arrays values = integers_on_gpus(shape, 8, 5);
    for (std::size_t k = 0; k < values.size(); ++k) {
      std::vector<float> numbers = floats(values[k]);
      for (float& x : numbers) x /= 7;
      values[k].sync_copy_from(numbers.data(), 3000);
    }
    push(store, 0, values);
    const std::vector<float> sum = pulled(store, 0, shape), plain = plain_sum(values);
    if (run == 0) first = sum;
    EXPECT_EQ(sum, first);
    for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], plain[i], 1e-3);
  }
}

// What a store over eight GPUs logs of its trees.
std::string logged_trees(const KvstoreConfig& config) {
  LocalStore store(parse_store_type("device"), config);
  store.init(Some{0}, Arrays{filled({4}, 0)});
  const Arrays values = integers_on_gpus({4}, 8, 5);
  testing::internal::CaptureStderr();
  push(store, 0, values);
  return testing::internal::GetCapturedStderr();
}

// The rows MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY and MXNET_KVSTORE_TREE_BACKTRACK, over links on
// which they make a difference.
TEST(TreeStore, TheTreesAreThoseOfTheConfiguredOptions) {
  const auto text = [](const LinkMatrix& links, const TreeOptions& options) {
    std::vector<std::string> trees;
    for (const LinkTree& tree : make_trees(links, options)) trees.push_back(tree.text());
    return trees;
  };
  const TreeOptions plain, eager{.usage_penalty = 1}, all{.exhaustive = true};
  std::mt19937 random(7);
  LinkMatrix links(8);
  bool differ = false;
  for (int tries = 0; tries < 100 && !differ; ++tries) {
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < a; ++b) links.set(a, b, 1 + random() % 3);
    differ = text(links, plain) != text(links, eager) && text(links, plain) != text(links, all);
  }
  ASSERT_TRUE(differ);
  const Links now(links);
  for (const TreeOptions& options : {plain, eager, all}) {
    const auto config = tree_config();
    config->logtree = true;
    config->tree_backtrack = options.exhaustive;
    config->tree_link_usage_penalty = options.usage_penalty;
    const std::string logged = logged_trees(*config);
    for (const std::string& tree : text(links, options))
      EXPECT_NE(logged.find("tree: " + tree + "\n"), std::string::npos) << tree << " in\n"
                                                                        << logged;
  }
}

// Boxes with two switches and no way between them but the host.
TEST(TreeStore, SumsAreRightWhereLinksDoNotConnectAll) {
  LinkMatrix links(8);
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < a; ++b) links.set(a, b, a / 4 == b / 4 ? 1 : 0);
  const Links now(links);
  const auto config = tree_config();
  LocalStore store(parse_store_type("device"), *config);
  const Shape shape{4099};
  store.init(Some{0}, Arrays{filled(shape, 0)});
  const Arrays values = integers_on_gpus(shape, 8, 5);
  const std::vector<float> expected = plain_sum(values);
  push(store, 0, values);
  EXPECT_EQ(pulled(store, 0, shape), expected);
}

TEST(TreeStore, TreesAreLoggedOnDemand) {
  const auto config = tree_config();
  config->logtree = true;
  LocalStore store(parse_store_type("device"), *config);
  store.init(Some{0}, Arrays{filled({4}, 0)});
  testing::internal::CaptureStderr();
  push(store, 0, integers_on_gpus({4}, 2, 5));
  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_NE(lines.find("tree: 0(1)"), std::string::npos) << lines;
  EXPECT_NE(lines.find("tree: 1(0)"), std::string::npos) << lines;
}

}  // namespace
}  // namespace mxnet::kvstore
