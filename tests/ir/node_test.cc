// SPDX-License-Identifier: Apache-2.0
// Lifetime of graphs.
#include "ir/node.h"

#include <gtest/gtest.h>

namespace mxnet::ir {
namespace {

struct Counted final : Node {
  explicit Counted(int* alive) : alive(alive) { ++*alive; }
  ~Counted() override { --*alive; }
  int* const alive;
};

Ref<Node> chain(int length, int* alive) {
  Ref<Node> last(new Counted(alive));
  for (int i = 1; i < length; ++i) {
    Ref<Node> next(new Counted(alive));
    next->inputs.push_back({last, 0, 0});
    last = next;
  }
  return last;
}

TEST(Node, LongChainsEndWithoutRecursion) {
  int alive = 0;
  Ref<Node> last = chain(1'000'000, &alive);
  EXPECT_EQ(alive, 1'000'000);
  last = {};
  EXPECT_EQ(alive, 0);
}

TEST(Node, WhatIsSharedStays) {
  int alive = 0;
  Ref<Node> shared = chain(3, &alive);
  {
    Ref<Node> user(new Counted(&alive));
    user->inputs.assign(2, {shared, 0, 0});
    EXPECT_EQ(alive, 4);
  }
  EXPECT_EQ(alive, 3);
}

TEST(Node, DiamondsAreFreedOnce) {
  int alive = 0;
  Ref<Node> top = chain(1, &alive);
  for (int i = 0; i < 50; ++i) {  // 2^50 paths
    Ref<Node> next(new Counted(&alive));
    next->inputs = {{top, 0, 0}, {top, 1, 0}};
    top = next;
  }
  top = {};
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace mxnet::ir
