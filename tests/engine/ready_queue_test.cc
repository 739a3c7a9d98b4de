// SPDX-License-Identifier: Apache-2.0
// The ready queue: order by priority and arrival, overflow of the ring, many threads.
#include "engine/ready_queue.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

namespace mxnet::engine {
namespace {

std::vector<Operation*> make_operations(std::size_t count, int priority = 0) {
  std::vector<Operation*> operations;
  for (std::size_t i = 0; i < count; ++i) {
    operations.push_back(Operation::make());
    operations.back()->priority = priority;
  }
  return operations;
}

void recycle(const std::vector<Operation*>& operations) {
  for (Operation* operation : operations) operation->recycle();
}

TEST(ReadyQueue, IsFirstInFirstOutAlsoBeyondTheRing) {
  ReadyQueue queue;
  const auto operations = make_operations(10000);
  for (Operation* operation : operations) queue.push(operation);
  for (Operation* operation : operations) ASSERT_EQ(queue.pop(), operation);
  EXPECT_EQ(queue.pop(), nullptr);
  recycle(operations);
}

TEST(ReadyQueue, LargerPrioritiesComeFirstAndEqualOnesInOrder) {
  constexpr uint64_t kSeed = 3;
  std::mt19937 random(kSeed);
  ReadyQueue queue;
  auto operations = make_operations(2000);
  for (Operation* operation : operations) operation->priority = static_cast<int>(random() % 9) - 4;
  for (Operation* operation : operations) queue.push(operation);
  std::stable_sort(
      operations.begin(), operations.end(),
      [](const Operation* a, const Operation* b) { return a->priority > b->priority; });
  for (Operation* operation : operations) ASSERT_EQ(queue.pop(), operation) << "seed " << kSeed;
  EXPECT_EQ(queue.pop(), nullptr);
  recycle(operations);
}

TEST(ReadyQueue, LosesAndDoublesNothingBetweenManyThreads) {
  constexpr int kPushers = 3, kPoppers = 3;
  constexpr std::size_t kEach = 5000;
  ReadyQueue queue;
  std::vector<std::vector<Operation*>> pushed(kPushers), popped(kPoppers);
  std::atomic<std::size_t> left{kPushers * kEach};
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < kPushers; ++p) {
    pushed[p] = make_operations(kEach, static_cast<int>(p) - 1);
    threads.emplace_back([&, p] {
      for (Operation* operation : pushed[p]) queue.push(operation);
    });
  }
  for (std::size_t p = 0; p < kPoppers; ++p) {
    threads.emplace_back([&, p] {
      while (left > 0) {
        if (Operation* operation = queue.pop()) {
          popped[p].push_back(operation);
          --left;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<Operation*> in, out;
  for (const auto& part : pushed) in.insert(in.end(), part.begin(), part.end());
  for (const auto& part : popped) out.insert(out.end(), part.begin(), part.end());
  std::sort(in.begin(), in.end());
  std::sort(out.begin(), out.end());
  EXPECT_EQ(in, out);
  recycle(in);
}

}  // namespace
}  // namespace mxnet::engine
