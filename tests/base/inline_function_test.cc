// SPDX-License-Identifier: Apache-2.0
// InlineFunction: what fits lies inside, what does not is owned, nothing is called or destroyed
// twice.
#include "base/inline_function.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

namespace mxnet {
namespace {

using Function = InlineFunction<int(int), 48>;

TEST(InlineFunction, EmptyIsFalse) {
  EXPECT_FALSE(static_cast<bool>(Function()));
  EXPECT_FALSE(static_cast<bool>(Function(nullptr)));
}

TEST(InlineFunction, CallsASmallClosure) {
  int base = 40;
  Function f = [&base](int x) { return base + x; };
  EXPECT_EQ(f(2), 42);
  base = 1;
  EXPECT_EQ(f(2), 3);
}

TEST(InlineFunction, CallsAClosureThatDoesNotFit) {
  std::array<int, 100> values{};
  values[99] = 7;
  Function f = [values](int x) { return values[99] + x; };
  EXPECT_EQ(f(1), 8);
  Function g = std::move(f);
  EXPECT_FALSE(static_cast<bool>(f));  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_EQ(g(1), 8);
}

TEST(InlineFunction, HoldsWhatCanOnlyBeMoved) {
  Function f = [owned = std::make_unique<int>(5)](int x) { return *owned + x; };
  Function g = std::move(f);
  EXPECT_EQ(g(1), 6);
}

template <std::size_t kPadding>
void expect_destroyed_once() {
  struct Counted {
    std::shared_ptr<int> alive;
    std::array<char, kPadding> padding{};
    int operator()(int x) const { return x; }
  };
  auto alive = std::make_shared<int>(0);
  {
    Function f = Counted{alive, {}};
    EXPECT_EQ(alive.use_count(), 2);
    Function g = std::move(f);
    EXPECT_EQ(alive.use_count(), 2);
    f = std::move(g);
    EXPECT_EQ(alive.use_count(), 2);
    f = [](int x) { return x; };
    EXPECT_EQ(alive.use_count(), 1);
    f = Counted{alive, {}};
    f.reset();
    EXPECT_EQ(alive.use_count(), 1);
    f = Counted{alive, {}};
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(InlineFunction, DestroysAnInlineClosureOnce) { expect_destroyed_once<1>(); }
TEST(InlineFunction, DestroysAHeapClosureOnce) { expect_destroyed_once<200>(); }

TEST(InlineFunction, PassesReferencesAndMovesValues) {
  InlineFunction<std::string(std::unique_ptr<int>, std::string&)> f = [](std::unique_ptr<int> p,
                                                                         std::string& s) {
    s += "!";
    return std::to_string(*p) + s;
  };
  std::string s = "x";
  EXPECT_EQ(f(std::make_unique<int>(3), s), "3x!");
  EXPECT_EQ(s, "x!");
}

TEST(InlineFunction, LetsExceptionsThrough) {
  Function f = [](int) -> int { throw 5; };
  EXPECT_THROW(f(0), int);
  EXPECT_THROW(f(0), int);  // and stays callable
}

}  // namespace
}  // namespace mxnet
