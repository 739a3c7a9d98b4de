// SPDX-License-Identifier: Apache-2.0
// Trees over the links of real machines: each is a tree, uses no link that is missing, is as
// shallow as can be, and together they spread over the links.
#include "kvstore/link_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace mxnet::kvstore {
namespace {

// Eight GPUs in two fully linked quads; each has one link to the other quad, some are double.
LinkMatrix cube_mesh() {
  return LinkMatrix(8, {0, 2, 1, 1, 2, 0, 0, 0,  //
                        2, 0, 1, 1, 0, 2, 0, 0,  //
                        1, 1, 0, 2, 0, 0, 2, 0,  //
                        1, 1, 2, 0, 0, 0, 0, 2,  //
                        2, 0, 0, 0, 0, 2, 1, 1,  //
                        0, 2, 0, 0, 2, 0, 1, 1,  //
                        0, 0, 2, 0, 1, 1, 0, 2,  //
                        0, 0, 0, 2, 1, 1, 2, 0});
}

// Two switches with four GPUs each; what crosses from one to the other is slower.
LinkMatrix two_switches(double across) {
  LinkMatrix links(8);
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < a; ++b) links.set(a, b, a / 4 == b / 4 ? 4 : across);
  return links;
}

LinkMatrix full(int devices) {
  LinkMatrix links(devices);
  for (int a = 0; a < devices; ++a)
    for (int b = 0; b < a; ++b) links.set(a, b, 1);
  return links;
}

LinkMatrix ring(int devices) {
  LinkMatrix links(devices);
  for (int a = 0; a < devices; ++a) links.set(a, (a + 1) % devices, 1);
  return links;
}

void expect_sound(const LinkMatrix& links, const std::vector<LinkTree>& trees) {
  ASSERT_EQ(trees.size(), static_cast<std::size_t>(links.devices()));
  for (int root = 0; root < links.devices(); ++root) {
    const LinkTree& tree = trees[static_cast<std::size_t>(root)];
    EXPECT_EQ(tree.root, root);
    for (int d = 0; d < links.devices(); ++d) {
      const int parent = tree.parent[static_cast<std::size_t>(d)];
      EXPECT_EQ(parent < 0, d == root) << tree.text();
      if (parent >= 0) {
        EXPECT_GT(links.at(d, parent), 0) << tree.text();
      }
      int steps = 0, at = d;
      for (; at != root && steps < links.devices(); ++steps)
        at = tree.parent[static_cast<std::size_t>(at)];
      EXPECT_EQ(at, root) << "device " << d << " does not reach the root: " << tree.text();
    }
  }
}

// The most trees that use one link.
int most_used(const LinkMatrix& links, const std::vector<LinkTree>& trees) {
  LinkMatrix usage(links.devices());
  int most = 0;
  for (const LinkTree& tree : trees) {
    for (int d = 0; d < links.devices(); ++d) {
      const int parent = tree.parent[static_cast<std::size_t>(d)];
      if (parent < 0) continue;
      usage.set(d, parent, usage.at(d, parent) + 1);
      most = std::max(most, static_cast<int>(usage.at(d, parent)));
    }
  }
  return most;
}

TEST(LinkTree, HalvesOnEveryLevelOfACubeMesh) {
  for (const bool exhaustive : {false, true}) {
    const auto trees = make_trees(cube_mesh(), {.exhaustive = exhaustive});
    expect_sound(cube_mesh(), trees);
    for (const LinkTree& tree : trees) EXPECT_EQ(tree.depth(), 3) << tree.text();
  }
}

// Devices of the subtree under `device`, itself among them.
int devices_under(const LinkTree& tree, int device) {
  int count = 1;
  for (const int child : tree.children(device)) count += devices_under(tree, child);
  return count;
}

TEST(LinkTree, EachChildTakesHalfOfWhatIsLeft) {
  for (const LinkMatrix& links : {cube_mesh(), two_switches(1), full(8)}) {
    for (const LinkTree& tree : make_trees(links, {})) {
      std::vector<int> sizes;
      for (const int child : tree.children(tree.root)) sizes.push_back(devices_under(tree, child));
      EXPECT_EQ(sizes, (std::vector<int>{1, 2, 4})) << tree.text();
    }
  }
}

TEST(LinkTree, SlowLinksAreCrossedOnce) {
  for (const LinkTree& tree : make_trees(two_switches(1), {})) {
    int crossings = 0;
    for (int d = 0; d < 8; ++d)
      if (d != tree.root) crossings += tree.parent[static_cast<std::size_t>(d)] / 4 != d / 4;
    EXPECT_EQ(crossings, 1) << tree.text();
  }
}

TEST(LinkTree, SwitchesWithoutAWayBetweenThemHaveNoTrees) {
  EXPECT_TRUE(make_trees(two_switches(0), {}).empty());
}

TEST(LinkTree, DepthIsTheLogarithmWhereAllAreLinked) {
  for (const int devices : {2, 3, 4, 5, 6, 7, 8, 12, 16}) {
    const auto trees = make_trees(full(devices), {});
    expect_sound(full(devices), trees);
    for (const LinkTree& tree : trees)
      EXPECT_LE(tree.depth(), static_cast<int>(std::ceil(std::log2(devices)))) << tree.text();
  }
}

TEST(LinkTree, MissingLinksAreNeverUsed) {
  LinkMatrix links = full(8);
  for (int d = 1; d < 7; ++d) links.set(0, d, 0);  // device 0 is reached by 7 alone
  expect_sound(links, make_trees(links, {}));
  expect_sound(ring(8), make_trees(ring(8), {}));
  for (const LinkTree& tree : make_trees(ring(8), {})) EXPECT_EQ(tree.depth(), 4) << tree.text();
}

// Whether every device is reached from device 0.
bool connected(const LinkMatrix& links) {
  std::vector<int> reached{0};
  for (std::size_t next = 0; next < reached.size(); ++next) {
    for (int d = 0; d < links.devices(); ++d) {
      const bool known = std::find(reached.begin(), reached.end(), d) != reached.end();
      if (!known && links.at(reached[next], d) > 0) reached.push_back(d);
    }
  }
  return static_cast<int>(reached.size()) == links.devices();
}

TEST(LinkTree, AnyLinksThatConnectAllHaveSoundTrees) {
  std::mt19937 random(31);
  int whole = 0;
  for (int tries = 0; tries < 300; ++tries) {
    LinkMatrix links(2 + static_cast<int>(random() % 8));
    const unsigned gaps = 1 + random() % 9;  // tenths of the links are missing
    for (int a = 0; a < links.devices(); ++a) {
      for (int b = 0; b < a; ++b) {
        const int weight = 1 + static_cast<int>(random() % 3);
        links.set(a, b, random() % 10 < gaps ? 0 : weight);
      }
    }
    for (const bool exhaustive : {false, true}) {
      const auto trees = make_trees(links, {.exhaustive = exhaustive});
      if (connected(links)) {
        expect_sound(links, trees);
      } else {
        EXPECT_TRUE(trees.empty());
      }
    }
    whole += connected(links) ? 1 : 0;
  }
  EXPECT_GT(whole, 50);
  EXPECT_LT(whole, 250);
}

TEST(LinkTree, ThereAreNoTreesWithoutAWayBetweenAll) {
  LinkMatrix links(4);
  links.set(0, 1, 1);
  links.set(2, 3, 1);
  EXPECT_TRUE(make_trees(links, {}).empty());
}

TEST(LinkTree, ThePenaltySpreadsTreesOverLinks) {
  const int eager =
      most_used(full(8), make_trees(full(8), {.exhaustive = true, .usage_penalty = 1}));
  const int spread =
      most_used(full(8), make_trees(full(8), {.exhaustive = true, .usage_penalty = 0.5}));
  EXPECT_LT(spread, eager);
  EXPECT_LE(spread, 3);  // 8 trees of 7 links over 28 links: 2 each if it were perfect
}

TEST(LinkTree, TryingAllHalvesIsWorthNoLessThanTheHeuristic) {
  const LinkMatrix links = cube_mesh();
  const auto worth = [&](const LinkTree& tree) {
    double sum = 0;
    for (int d = 0; d < 8; ++d)
      if (d != tree.root) sum += links.at(d, tree.parent[static_cast<std::size_t>(d)]);
    return sum;
  };
  // The first tree alone: later ones depend on those before.
  EXPECT_GE(worth(make_trees(links, {.exhaustive = true})[0]), worth(make_trees(links, {})[0]));
}

TEST(LinkTree, ItsTextShowsWhoSumsWhom) {
  EXPECT_EQ((LinkTree{0, {-1, 0, 0, 1}}.text()), "0(2 1(3))");
}

}  // namespace
}  // namespace mxnet::kvstore
