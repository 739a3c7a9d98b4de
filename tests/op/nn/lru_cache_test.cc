// SPDX-License-Identifier: Apache-2.0
// The cache of compiled primitives: what is found, what goes first, how many stay.
#include "op/onednn/lru_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>

#include "base/config_table.h"
#include "op/prepared_kernel.h"

namespace mxnet::onednn {
namespace {

void set_limit(std::optional<std::string> limit) {
  config_set("MXNET_ONEDNN_CACHE_NUM",
             limit ? std::optional<std::string_view>(*limit) : std::nullopt);
}

// A cache of numbers that counts how many had to be made.
class Numbers {
 public:
  int get(int64_t number) {
    Key key;
    key.add(number);
    return *cache_.get(key, [&] {
      ++made;
      return std::make_unique<int>(static_cast<int>(number));
    });
  }
  std::size_t size() const { return cache_.size(); }
  int made = 0;

 private:
  LruCache<int> cache_;
};

struct Rare {
  static constexpr int64_t kMost = 4;
};

TEST(OnednnCache, MakesEachValueOnce) {
  Numbers numbers;
  for (int round = 0; round < 3; ++round)
    for (int64_t n = 0; n < 100; ++n) EXPECT_EQ(numbers.get(n), n);
  EXPECT_EQ(numbers.made, 100);
}

TEST(OnednnCache, RemembersThatThereIsNothing) {
  LruCache<int> cache;
  int asked = 0;
  const auto none = [&]() -> std::unique_ptr<int> {
    ++asked;
    return nullptr;
  };
  EXPECT_EQ(cache.get(Key(), none), nullptr);
  EXPECT_EQ(cache.get(Key(), none), nullptr);
  EXPECT_EQ(asked, 1);
}

TEST(OnednnCache, ListsThatAreCutDifferentlyAreDifferentKeys) {
  const int64_t a[] = {1, 2, 3};
  Key left, right;
  left.add(std::span(a, 1)).add(std::span(a + 1, 2));
  right.add(std::span(a, 2)).add(std::span(a + 2, 1));
  EXPECT_FALSE(std::ranges::equal(left.words(), right.words()));
}

TEST(OnednnCache, CacheNumBoundsEachCache) {
  set_limit("3");
  Numbers numbers;
  for (int64_t n = 0; n < 10; ++n) numbers.get(n);
  EXPECT_EQ(numbers.size(), 3u);
  set_limit(std::nullopt);
  for (int64_t n = 0; n < 10; ++n) numbers.get(n);
  EXPECT_EQ(numbers.size(), 10u);
}

TEST(OnednnCache, AKindMayHaveABoundOfItsOwn) {
  const auto size_of = [](std::optional<std::string> limit) {
    set_limit(std::move(limit));
    LruCache<Rare> cache;
    for (int64_t n = 0; n < 10; ++n) {
      Key key;
      key.add(n);
      cache.get(key, [] { return std::make_unique<Rare>(); });
    }
    return cache.size();
  };
  EXPECT_EQ(size_of(std::nullopt), 4u);
  EXPECT_EQ(size_of("100"), 4u);
  EXPECT_EQ(size_of("2"), 2u);
  set_limit(std::nullopt);
}

TEST(OnednnCache, WhatNoPlanAskedForIsForgotten) {
  Numbers numbers;
  auto& lasting = thread_cache<int>();
  auto& of_plans = thread_cache<Rare>();
  const auto ask = []<class T>(LruCache<T>& cache, int64_t n) {
    Key key;
    key.add(n);
    bool made = false;
    cache.get(key, [&] {
      made = true;
      return std::make_unique<T>();
    });
    return made;
  };
  EXPECT_TRUE(ask(lasting, 1) && ask(of_plans, 1) && ask(of_plans, 2));
  forget_unasked_kernels();
  EXPECT_TRUE(ask(of_plans, 3));
  EXPECT_FALSE(ask(of_plans, 2));
  forget_unasked_kernels();  // 1 goes
  forget_unasked_kernels();  // nobody has asked for anything
  EXPECT_EQ(of_plans.size(), 2u);
  EXPECT_FALSE(ask(lasting, 1) || ask(of_plans, 2) || ask(of_plans, 3));
  EXPECT_TRUE(ask(of_plans, 1));
}

TEST(OnednnCache, TheLeastRecentlyUsedGoesFirst) {
  set_limit("2");
  Numbers numbers;
  numbers.get(1);
  numbers.get(2);
  numbers.get(1);
  numbers.get(3);  // 2 goes
  EXPECT_EQ(numbers.made, 3);
  numbers.get(1);
  EXPECT_EQ(numbers.made, 3);
  numbers.get(2);
  EXPECT_EQ(numbers.made, 4);
  set_limit(std::nullopt);
}

TEST(OnednnCache, WithoutRoomOnlyTheLastStays) {
  set_limit("0");
  Numbers numbers;
  EXPECT_EQ(numbers.get(1), 1);
  EXPECT_EQ(numbers.get(2), 2);
  EXPECT_EQ(numbers.size(), 1u);
  set_limit(std::nullopt);
}

TEST(OnednnCache, RandomUseGivesWhatWasAskedFor) {
  const unsigned seed = 20240611;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  Numbers numbers;
  for (int i = 0; i < 5000; ++i) {
    if (i % 100 == 0) set_limit(std::to_string(static_cast<int>(random() % 20) - 1));
    const auto n = static_cast<int64_t>(random() % 30);
    ASSERT_EQ(numbers.get(n), n);
  }
  set_limit(std::nullopt);
}

}  // namespace
}  // namespace mxnet::onednn
