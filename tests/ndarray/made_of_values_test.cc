// SPDX-License-Identifier: Apache-2.0
// How long what is made of an array's values lives, and which arrays have such things.
#include "ndarray/made_of_values.h"

#include <algorithm>
#include <thread>

#include "arrays.h"
#include "ndarray/dlpack.h"

namespace mxnet {
namespace {

using namespace testing_arrays;

TEST(MadeOfValues, IsWorthKeepingWhenAskedForAgain) {
  MadeOfValues made;
  const MadeOfValues::Key key{1}, other{2};
  bool again = true;
  EXPECT_EQ(made.find(7, key, &again), nullptr);
  EXPECT_FALSE(again);
  EXPECT_EQ(made.find(7, key, &again), nullptr);
  EXPECT_TRUE(again);
  const auto value = std::make_shared<const int>(3);
  made.add(7, key, value);
  EXPECT_EQ(made.find(7, key, &again), value);
  EXPECT_EQ(made.find(7, other, &again), nullptr);
  EXPECT_FALSE(again);
}

TEST(MadeOfValues, EndsWithTheVersion) {
  MadeOfValues made;
  bool again = false;
  made.find(1, {}, &again);
  auto value = std::make_shared<const int>(3);
  const std::weak_ptr<const int> watched = value;
  made.add(1, {}, std::move(value));
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(made.find(2, {}, &again), nullptr);
  EXPECT_FALSE(again);
  EXPECT_TRUE(watched.expired());
  made.add(1, {}, std::make_shared<const int>(4));  // too late
  EXPECT_EQ(made.find(2, {}, &again), nullptr);
}

TEST(MadeOfValues, IsBounded) {
  MadeOfValues made;
  bool again = false;
  std::vector<std::weak_ptr<const int>> watched;
  for (int64_t i = 0; i < 1000; ++i) {
    made.find(1, {i}, &again);
    auto value = std::make_shared<const int>(1);
    watched.emplace_back(value);
    made.add(1, {i}, std::move(value));
  }
  const auto alive = std::count_if(watched.begin(), watched.end(),
                                   [](const auto& each) { return !each.expired(); });
  EXPECT_GT(alive, 0);
  EXPECT_LE(alive, static_cast<std::ptrdiff_t>(MadeOfValues::kMost));
}

TEST(MadeOfValues, ServesThreads) {
  NDArray array = make<float>(Shape{2}, {1, 2});
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&array, t] {
      for (int64_t i = 0; i < 2000; ++i) {
        bool again = false;
        const MadeOfValues::Key key{i % 3};
        const auto version = static_cast<uint64_t>(i / 500);
        MadeOfValues& made = *array.chunk()->made_of_values();
        if (const auto found = made.find(version, key, &again))
          EXPECT_EQ(*static_cast<const int64_t*>(found.get()), i % 3);
        else if (again)
          made.add(version, key, std::make_shared<const int64_t>(i % 3));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(MadeOfValues, EndsWithTheArray) {
  std::weak_ptr<const int> watched;
  {
    const NDArray array = make<float>(Shape{2}, {1, 2});
    const NDArray view = array.slice(0, 1);
    EXPECT_EQ(array.chunk()->made_of_values(), view.chunk()->made_of_values());
    bool again = false;
    array.chunk()->made_of_values()->find(1, {}, &again);
    auto value = std::make_shared<const int>(3);
    watched = value;
    array.chunk()->made_of_values()->add(1, {}, std::move(value));
  }
  EXPECT_TRUE(watched.expired());
}

// What a kernel adds that began before is not kept either.
TEST(MadeOfValues, EndsWhenTheAddressIsHandedOut) {
  const NDArray array = make<float>(Shape{2}, {1, 2});
  MadeOfValues& made = *array.chunk()->made_of_values();
  bool again = false;
  made.find(1, {}, &again);
  auto value = std::make_shared<const int>(3);
  const std::weak_ptr<const int> watched = value;
  made.add(1, {}, value);
  array.chunk()->hand_out();
  EXPECT_EQ(value.use_count(), 1);
  EXPECT_EQ(made.find(1, {}, &again), nullptr);
  EXPECT_FALSE(again);
  made.add(1, {}, std::move(value));
  EXPECT_TRUE(watched.expired());
}

TEST(MadeOfValues, IsNotOfMemoryThatOthersMayWrite) {
  const NDArray array = make<float>(Shape{2}, {1, 2});
  EXPECT_NE(array.chunk()->made_of_values(), nullptr);
  DLManagedTensor* exported = to_dlpack(array);
  EXPECT_EQ(array.chunk()->made_of_values(), nullptr);
  const NDArray imported = from_dlpack(exported, false);
  EXPECT_EQ(imported.chunk()->made_of_values(), nullptr);
  const NDArray shared(Shape{2}, DType::kFloat32, Device::cpu_shared());
  EXPECT_EQ(shared.chunk()->made_of_values(), nullptr);
}

}  // namespace
}  // namespace mxnet
