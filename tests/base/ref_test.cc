// SPDX-License-Identifier: Apache-2.0
// Counted references: one deletion, at the last owner's end, on any thread.
#include "base/ref.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace mxnet {
namespace {

constexpr int kRounds = 2000;

struct Counted : RefCounted {
  explicit Counted(std::atomic<int>* ends) : ends(ends) {}
  virtual ~Counted() { ends->fetch_add(1); }
  std::atomic<int>* ends;
};
struct Derived final : Counted {
  using Counted::Counted;
};

TEST(Ref, DeletesOnceWithTheLastOwner) {
  std::atomic<int> ends{0};
  {
    Ref<Counted> a = make_ref<Counted>(&ends);
    Ref<Counted> b = a;
    Ref<Counted> c = std::move(a);
    EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): what a move leaves
    EXPECT_EQ(b, c);
    EXPECT_FALSE(b->unique());
    c = {};
    EXPECT_TRUE(b->unique());
    b = b;
    EXPECT_EQ(ends, 0);
  }
  EXPECT_EQ(ends, 1);
}

TEST(Ref, ConvertsToItsBase) {
  std::atomic<int> ends{0};
  {
    Ref<Derived> derived = make_ref<Derived>(&ends);
    Ref<Counted> base = derived;
    EXPECT_EQ(base.get(), derived.get());
    base = std::move(derived);
    EXPECT_FALSE(derived);  // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(base->unique());
  }
  EXPECT_EQ(ends, 1);
}

TEST(Ref, NullIsHarmless) {
  Ref<Counted> none;
  const Ref<Counted> copy = none;
  EXPECT_FALSE(copy);
  EXPECT_EQ(copy, none);
  none = Ref<Counted>(nullptr);
  EXPECT_EQ(none.get(), nullptr);
}

TEST(Ref, ThreadsShareOneObject) {
  std::atomic<int> ends{0};
  for (int round = 0; round < kRounds / 10; ++round) {
    std::vector<std::thread> threads;
    {
      const Ref<Counted> first = make_ref<Counted>(&ends);
      for (int t = 0; t < 3; ++t) {
        threads.emplace_back([mine = first] {
          for (int i = 0; i < 10; ++i) {
            const Ref<Counted> copy = mine;
            EXPECT_EQ(copy->ends->load() >= 0, true);
          }
        });
      }
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(ends, round + 1);
  }
}

}  // namespace
}  // namespace mxnet
