// SPDX-License-Identifier: Apache-2.0
// Handles: whatever is not a live handle of the pool is found, and nothing else is touched.
#include "c_api/handle_pool.h"

#include <gtest/gtest.h>

#include <barrier>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

namespace mxnet::c_api {
namespace {

constexpr uint32_t kSeed = 99;
constexpr int kThreads = 4, kHandlesPerThread = 20'000;

std::string error_of(const HandlePool<std::shared_ptr<int>>& pool, const void* handle) {
  try {
    pool.get(handle, "test");
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(HandlePool, GivesBackWhatWasPutIn) {
  HandlePool<std::shared_ptr<int>> pool("probe");
  auto value = std::make_shared<int>(7);
  void* handle = pool.create(value);
  EXPECT_EQ(pool.get(handle, "test"), value);
  EXPECT_EQ(pool.get_if(handle), &pool.get(handle, "test"));
  EXPECT_EQ(pool.live(), 1);
  EXPECT_EQ(value.use_count(), 2);
  pool.destroy(handle, "test");
  EXPECT_EQ(value.use_count(), 1);
  EXPECT_EQ(pool.live(), 0);
}

TEST(HandlePool, TellsNullForeignAndFreedApart) {
  HandlePool<std::shared_ptr<int>> pool("probe"), other("other");
  void* handle = pool.create(std::make_shared<int>(1));
  void* foreign = other.create(std::make_shared<int>(2));
  int local = 0;
  EXPECT_EQ(error_of(pool, nullptr), "given null, expected a live probe handle");
  EXPECT_EQ(error_of(pool, foreign),
            "given a handle of another kind, expected a live probe handle");
  for (const void* address : {static_cast<const void*>(&local), reinterpret_cast<const void*>(5),
                              reinterpret_cast<const void*>(~std::uintptr_t{0})})
    EXPECT_NE(error_of(pool, address).find("another kind"), std::string::npos);
  EXPECT_EQ(pool.get_if(foreign), nullptr);
  // Beside the handle: an address inside our own memory that was never given out.
  EXPECT_NE(error_of(pool, static_cast<char*>(handle) + 1), "");
  pool.destroy(handle, "test");
  EXPECT_EQ(error_of(pool, handle), "given a freed handle, expected a live probe handle");
  EXPECT_THROW(pool.destroy(handle, "test"), Error);
  EXPECT_THROW(pool.destroy(nullptr, "test"), Error);
  other.destroy(foreign, "test");
}

TEST(HandlePool, BeforeTheFirstHandleEveryHandleIsWrong) {
  // Pools are constant-initialised statics that are never destroyed.
  static_assert(std::is_trivially_destructible_v<HandlePool<std::shared_ptr<int>>>);
  static constinit HandlePool<std::shared_ptr<int>> pool("probe");
  int local = 0;
  EXPECT_EQ(error_of(pool, nullptr), "given null, expected a live probe handle");
  EXPECT_EQ(error_of(pool, &local), "given a handle of another kind, expected a live probe handle");
  EXPECT_EQ(pool.get_if(nullptr), nullptr);
  EXPECT_THROW(pool.destroy(&local, "test"), Error);
  EXPECT_EQ(pool.live(), 0);
}

TEST(HandlePool, ThreadsMakeTheFirstHandleAtOnce) {
  for (int round = 0; round < 50; ++round) {
    HandlePool<std::shared_ptr<int>> pool("probe");
    std::barrier start(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        start.arrive_and_wait();
        EXPECT_THROW(pool.get(&start, "test"), Error);
        void* handle = pool.create(std::make_shared<int>(t));
        EXPECT_EQ(*pool.get(handle, "test"), t);
        pool.destroy(handle, "test");
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(pool.live(), 0);
  }
}

TEST(HandlePool, AnOldHandleStaysWrongWhenItsSlotIsUsedAgain) {
  HandlePool<std::shared_ptr<int>> pool("probe");
  void* old = pool.create(std::make_shared<int>(0));
  pool.destroy(old, "test");
  for (int i = 1; i < 30; ++i) {
    void* fresh = pool.create(std::make_shared<int>(i));
    EXPECT_NE(fresh, old);
    EXPECT_THROW(pool.get(old, "test"), Error);
    EXPECT_THROW(pool.destroy(old, "test"), Error);
    EXPECT_EQ(*pool.get(fresh, "test"), i);
    pool.destroy(fresh, "test");
  }
}

TEST(HandlePool, ThreadsMakeAndFreeAtOnce) {
  HandlePool<std::shared_ptr<int>> pool("probe");
  auto value = std::make_shared<int>(0);
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(kSeed + static_cast<uint32_t>(t));
      std::vector<void*> mine;
      start.arrive_and_wait();
      for (int i = 0; i < kHandlesPerThread; ++i) {
        if (mine.empty() || random() % 2) {
          mine.push_back(pool.create(value));
        } else {
          std::swap(mine[random() % mine.size()], mine.back());
          EXPECT_EQ(pool.get(mine.back(), "test"), value);
          pool.destroy(mine.back(), "test");
          mine.pop_back();
        }
      }
      EXPECT_EQ(std::set<void*>(mine.begin(), mine.end()).size(), mine.size());
      for (void* handle : mine) pool.destroy(handle, "test");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.live(), 0);
  EXPECT_EQ(value.use_count(), 1) << "each object ended once; seed " << kSeed;
}

TEST(HandlePool, OfTwoThreadsThatFreeOneHandleOneIsTold) {
  HandlePool<std::shared_ptr<int>> pool("probe");
  auto value = std::make_shared<int>(0);
  for (int round = 0; round < 200; ++round) {
    void* handle = pool.create(value);
    std::barrier start(2);
    std::atomic<int> told{0};
    const auto free = [&] {
      start.arrive_and_wait();
      try {
        pool.destroy(handle, "test");
      } catch (const Error&) {
        ++told;
      }
    };
    std::thread other(free);
    free();
    other.join();
    ASSERT_EQ(told, 1);
    ASSERT_EQ(value.use_count(), 1);
  }
}

}  // namespace
}  // namespace mxnet::c_api
