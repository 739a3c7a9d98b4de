// SPDX-License-Identifier: Apache-2.0
// Stores of one process over arrays in host memory.
#include "kvstore/local_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kvstore/stores.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)
using Some = std::vector<Key>;
using Arrays = std::vector<NDArray>;

class LocalStores : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<KVStore> store_ = KVStore::create(GetParam());
};
INSTANTIATE_TEST_SUITE_P(, LocalStores,
                         testing::Values("local", "local_update_cpu", "local_allreduce_cpu",
                                         "local_allreduce_device", "device"));

TEST_P(LocalStores, IsItsOwnGroup) {
  EXPECT_EQ(store_->type(), GetParam());
  EXPECT_EQ(store_->rank(), 0);
  EXPECT_EQ(store_->group_size(), 1);
}

TEST_P(LocalStores, InitKeepsACopy) {
  const Shape shape{2};
  NDArray value = filled(shape, 4);
  store_->init(Some{"a"}, Arrays{value});
  value.sync_copy_from(std::vector<float>{9, 9}.data(), 2);
  EXPECT_EQ(pulled(*store_, "a", shape), (std::vector<float>{4, 4}));
}

TEST_P(LocalStores, AFailedInitLeavesNoKeyBehind) {
  const Shape shape{2};
  const NDArray nowhere(shape, DType::kFloat32, Device::gpu(99));
  EXPECT_NE(error_of([&] {
              store_->init(Some{"a", "b"}, Arrays{filled(shape, 1), nowhere});
            }).find("gpu(99)"),
            std::string::npos);
  EXPECT_NE(error_of([&] { pulled(*store_, "a", shape); }).find("'a'"), std::string::npos);
  store_->init(Some{"b", "a"}, Arrays{filled(shape, 3), filled(shape, 4)});
  EXPECT_EQ(pulled(*store_, "b", shape), (std::vector<float>{3, 3}));
  EXPECT_EQ(pulled(*store_, "a", shape), (std::vector<float>{4, 4}));
}

TEST_P(LocalStores, PushReplacesWhatIsStoredByTheSumOfAllValues) {
  const Shape shape{3};
  store_->init(Some{7}, Arrays{filled(shape, 1)});
  push(*store_, 7,
       {filled(shape, 2, Device::cpu(0)), filled(shape, 3, Device::cpu(1)), filled(shape, 4)});
  EXPECT_EQ(pulled(*store_, 7, shape), (std::vector<float>{9, 9, 9}));
  push(*store_, 7, {filled(shape, 5)});
  EXPECT_EQ(pulled(*store_, 7, shape), (std::vector<float>{5, 5, 5}));
}

TEST_P(LocalStores, WhatWasPushedMayChangeAfterwards) {
  const Shape shape{2};
  store_->init(Some{"a"}, Arrays{filled(shape, 1)});
  NDArray value = filled(shape, 4);
  push(*store_, "a", {value});
  value.sync_copy_from(std::vector<float>{9, 9}.data(), 2);
  EXPECT_EQ(pulled(*store_, "a", shape), (std::vector<float>{4, 4}));
}

TEST_P(LocalStores, AnUpdaterIsGivenTheSumAndChangesWhatIsStored) {
  const Shape shape{2};
  store_->init(Some{3, 5}, Arrays{filled(shape, 1), filled(shape, 2)});
  std::vector<Key> calls;
  store_->set_updater([&](const Key& key, const NDArray& pushed, const NDArray& stored) {
    calls.push_back(key);
    const float sum = floats(pushed)[0], old = floats(stored)[0];
    filled(shape, old + 10 * sum).copy_to(stored);
  });
  store_->push(Some{5, 3, 5}, Arrays{filled(shape, 1), filled(shape, 2), filled(shape, 3)}, 0);
  EXPECT_EQ(calls, (Some{3, 5})) << "once a key, by value";
  EXPECT_EQ(pulled(*store_, 3, shape)[0], 21);
  EXPECT_EQ(pulled(*store_, 5, shape)[0], 42);
}

TEST_P(LocalStores, PushPullWritesAllOutsAndStoresTheSum) {
  const Shape shape{40000};
  store_->init(Some{"a"}, Arrays{filled(shape, 1)});
  const Arrays values{filled(shape, 2), filled(shape, 3)};
  store_->push_pull(same_key("a", 2), values, same_key("a", 2), values, 0);
  EXPECT_EQ(floats(values[0]), std::vector<float>(40000, 5));
  EXPECT_EQ(floats(values[1]), std::vector<float>(40000, 5));
  EXPECT_EQ(pulled(*store_, "a", shape), std::vector<float>(40000, 5));
}

TEST_P(LocalStores, PushPullIntoOverlappingWindowsReadsBeforeItWrites) {
  const NDArray memory = testing_arrays::counting({5000});
  const NDArray low = memory.slice(0, 4000), high = memory.slice(1000, 5000);
  store_->init(Some{"a"}, Arrays{filled({4000}, 0)});
  store_->push_pull(same_key("a", 1), Arrays{high}, same_key("a", 1), Arrays{low}, 0);
  std::vector<float> expected(4000);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i + 1000);
  EXPECT_EQ(floats(low), expected);
}

TEST_P(LocalStores, PushPullReadsTheValuesOfAllKeysBeforeItWrites) {
  const Shape shape{2};
  for (const bool updated : {false, true}) {
    const int a = updated ? 3 : 1, b = a + 1;
    store_->init(Some{a, b}, Arrays{filled(shape, 0), filled(shape, 0)});
    if (updated) {
      store_->set_updater(
          [](const Key&, const NDArray& pushed, const NDArray& stored) { pushed.copy_to(stored); });
    }
    const Arrays values{filled(shape, 1), filled(shape, 2), filled(shape, 10), filled(shape, 20)};
    const Arrays outs{values[2], values[0], filled(shape, 0), values[3]};
    const Some keys{a, a, b, b};
    store_->push_pull(keys, values, keys, outs, 0);
    EXPECT_EQ(floats(values[0])[0], 3);
    EXPECT_EQ(floats(values[2])[0], 3) << "written by the first key";
    EXPECT_EQ(floats(outs[2])[0], 30) << "of what was there before";
    EXPECT_EQ(pulled(*store_, b, shape)[0], 30);
  }
}

// Calls of one list of keys, which the store knows again: each is of the arrays that it is given.
TEST_P(LocalStores, PushPullsOfTheSameKeysReadBeforeTheyWriteWhateverTheArrays) {
  constexpr int kKeys = 40;
  const Shape shape{2};
  Some keys;
  Arrays stored, values, outs;
  for (int k = 0; k < kKeys; ++k) {
    keys.emplace_back(k);
    stored.push_back(filled(shape, 0));
    values.push_back(filled(shape, static_cast<float>(k)));
    outs.push_back(filled(shape, 0));
  }
  store_->init(keys, stored);
  const auto shift = [&] {  // what each key writes the next one has as its value
    Arrays next(values.begin() + 1, values.end());
    next.push_back(outs.back());
    store_->push_pull(keys, values, keys, next, 0);
  };
  for (int call = 0; call < 3; ++call) store_->push_pull(keys, values, keys, outs, 0);
  for (int call = 0; call < 2; ++call) shift();
  for (int k = 0; k < kKeys; ++k)
    EXPECT_EQ(floats(values[static_cast<std::size_t>(k)])[0], std::max(0, k - 2)) << k;
  store_->push_pull(keys, values, keys, outs, 0);
  for (int k = 0; k < kKeys; ++k)
    EXPECT_EQ(floats(outs[static_cast<std::size_t>(k)])[0], std::max(0, k - 2)) << k;
}

TEST_P(LocalStores, PushPullOfDifferentKeysIsAPushAndAPull) {
  const Shape shape{2};
  store_->init(Some{"a", "b"}, Arrays{filled(shape, 1), filled(shape, 2)});
  const Arrays outs{filled(shape, 0), filled(shape, 0)};
  store_->push_pull(Some{"a", "b"}, Arrays{filled(shape, 5), filled(shape, 7)}, Some{"b"},
                    Arrays{outs[0]}, 0);
  EXPECT_EQ(floats(outs[0])[0], 7);
  EXPECT_EQ(pulled(*store_, "a", shape)[0], 5);
  store_->push_pull(Some{"a"}, Arrays{filled(shape, 3)}, Some{"b", "a"}, outs, 0);
  EXPECT_EQ(floats(outs[0])[0], 7);
  EXPECT_EQ(floats(outs[1])[0], 3);
  store_->set_updater([&](const Key&, const NDArray& pushed, const NDArray& stored) {
    filled(shape, floats(stored)[0] + floats(pushed)[0]).copy_to(stored);
  });
  store_->push_pull(Some{"b"}, Arrays{filled(shape, 1)}, Some{"a"}, Arrays{outs[0]}, 0);
  EXPECT_EQ(floats(outs[0])[0], 3);
  EXPECT_EQ(pulled(*store_, "b", shape)[0], 8);
}

TEST_P(LocalStores, BroadcastStoresAndPulls) {
  const Shape shape{2};
  const Arrays outs{filled(shape, 0), filled(shape, 0)};
  store_->broadcast(Some{"a"}, Arrays{filled(shape, 8)}, same_key("a", 2), outs, 0);
  EXPECT_EQ(floats(outs[1])[0], 8);
  EXPECT_NE(error_of([&] {
              store_->broadcast(Some{"a"}, Arrays{filled(shape, 8)}, Some{"a"}, Arrays{outs[0]}, 0);
            }).find("has a value already"),
            std::string::npos);
}

TEST_P(LocalStores, TypesAreConvertedToWhatIsStoredAndToWhatIsAskedFor) {
  const Shape shape{2};
  store_->init(Some{"a"}, Arrays{filled(shape, 1)});
  push(*store_, "a", {filled(shape, 3), make<double>(shape, {7, 8})});
  const Arrays out{NDArray(shape, DType::kInt32, Device::cpu())};
  store_->pull(Some{"a"}, out, 0, true);
  EXPECT_EQ(values<int32_t>(out[0]), (std::vector<int32_t>{10, 11}));
}

TEST_P(LocalStores, WrongCallsAreErrorsThatNameTheKey) {
  const Shape shape{2};
  store_->init(Some{"a"}, Arrays{filled(shape, 1)});
  const auto expect_error = [](const char* part, auto&& body) {
    const std::string error = error_of(body);
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  expect_error("key 'b'", [&] { push(*store_, "b", {filled(shape, 1)}); });
  expect_error("given shape (3,), expected (2,)", [&] { push(*store_, "a", {filled({3}, 1)}); });
  expect_error("given shape (3,), expected (2,)", [&] { pulled(*store_, "a", {3}); });
  expect_error("2 keys and 1 arrays",
               [&] { store_->push(same_key("a", 2), Arrays{filled(shape, 1)}, 0); });
}

TEST_P(LocalStores, AFailedInputIsThrownByAWaitOnWhatWasPulled) {
  const Shape shape{100000};
  store_->init(Some{"a"}, Arrays{filled(shape, 1)});
  push(*store_, "a", {broken_array(shape)});
  EXPECT_NE(error_of([&] { pulled(*store_, "a", shape); }).find("gone wrong"), std::string::npos);
  push(*store_, "a", {filled(shape, 3)});
  EXPECT_EQ(pulled(*store_, "a", shape)[0], 3) << "a later push is sound";
}

TEST_P(LocalStores, AFailureIsNotForgottenByAPushPullInPlace) {
  const Shape shape{100000};
  store_->init(Some{"a"}, Arrays{filled(shape, 1)});
  const Arrays values{broken_array(shape)};
  store_->push_pull(Some{"a"}, values, Some{"a"}, values, 0);
  EXPECT_NE(error_of([&] { values[0].wait_to_read(); }).find("gone wrong"), std::string::npos);
}

}  // namespace
}  // namespace mxnet::kvstore
