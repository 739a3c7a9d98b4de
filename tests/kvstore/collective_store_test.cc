// SPDX-License-Identifier: Apache-2.0
// Stores of type `nccl` over simulated GPUs.
#include <gtest/gtest.h>

#include "base/config.h"
#include "device/sim/sim_control.h"
#include "kvstore/collective_reducer.h"
#include "kvstore/stores.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)
using Some = std::vector<Key>;
using List = std::vector<NDArray>;

uint64_t collectives_of(int gpu) {
  Engine::get().wait_for_all();
  return sim_control(device_api(DeviceType::kGPU))->stats(gpu).collectives;
}

List on_gpus(const Shape& shape, const std::vector<int>& gpus, DType dtype = DType::kFloat32) {
  List arrays;
  for (const int gpu : gpus) {
    NDArray array = filled(shape, static_cast<float>(gpu + 1));
    arrays.push_back(as_type(array, dtype).copy(Device::gpu(gpu)));
  }
  return arrays;
}

TEST(CollectiveStore, PushAndPullAreOneCallEach) {
  const auto store = KVStore::create("nccl");
  EXPECT_EQ(store->type(), "nccl");
  const Shape shape{50, 3};
  store->init(Some{0}, List{filled(shape, 0)});
  for (int step = 1; step <= 3; ++step) {
    const uint64_t before = collectives_of(2);
    push(*store, 0, on_gpus(shape, {0, 1, 2}));
    EXPECT_EQ(collectives_of(2) - before, 1U);
    const List outs = on_gpus(shape, {0, 1, 2});
    store->pull(same_key(0, outs.size()), outs, 0, true);
    EXPECT_EQ(collectives_of(2) - before, 2U);
    for (const NDArray& out : outs) EXPECT_EQ(floats(out), std::vector<float>(150, 6));
  }
  EXPECT_EQ(pulled(*store, 0, shape), std::vector<float>(150, 6));
}

TEST(CollectiveStore, PushPullInPlaceIsOneCall) {
  const auto store = KVStore::create("nccl");
  const Shape shape{40};
  store->init(Some{0}, List{filled(shape, 0)});
  const List values = on_gpus(shape, {3, 1, 0, 2});  // in any order
  const uint64_t before = collectives_of(0);
  store->push_pull(same_key(0, 4), values, same_key(0, 4), values, 0);
  EXPECT_EQ(collectives_of(0) - before, 1U);
  for (const NDArray& value : values) EXPECT_EQ(floats(value), std::vector<float>(40, 10));
  EXPECT_EQ(pulled(*store, 0, shape)[0], 10);
}

TEST(CollectiveStore, HalvesAndIntegersAreSummed) {
  const KvstoreConfig config;
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt32,
                            DType::kInt8, DType::kUInt8, DType::kInt64}) {
    CollectiveReducer reducer(config);
    const List values = on_gpus({5}, {0, 1, 2}, dtype);
    const NDArray to = empty_like(values[1], Device::gpu(1));
    Buffers buffers;
    reducer.sum(buffers, values, to, 0);
    EXPECT_EQ(floats(as_type(to.copy(Device::cpu()), DType::kFloat32)), std::vector<float>(5, 6))
        << dtype_name(dtype);
  }
}

TEST(CollectiveStore, WhatIsNotForATeamGoesTheWayOfDevices) {
  const auto store = KVStore::create("nccl");
  const Shape shape{4};
  store->init(Some{0}, List{filled(shape, 0)});
  const uint64_t before = collectives_of(0);
  push(*store, 0, {filled(shape, 1, Device::gpu(0)), filled(shape, 2)});  // one in host memory
  EXPECT_EQ(pulled(*store, 0, shape)[0], 3);
  push(*store, 0, {filled(shape, 1, Device::gpu(0)), filled(shape, 4, Device::gpu(0))});  // one GPU
  EXPECT_EQ(pulled(*store, 0, shape)[0], 5);
  push(*store, 0, {filled(shape, 7, Device::gpu(0))});
  EXPECT_EQ(pulled(*store, 0, shape)[0], 7);
  EXPECT_EQ(collectives_of(0), before);
}

TEST(CollectiveStore, CallsOfManyKeysOverlapWithOtherWork) {
  const auto store = KVStore::create("nccl");
  constexpr int kKeys = 20;
  const Shape shape{100};
  for (int key = 0; key < kKeys; ++key) store->init(Some{key}, List{filled(shape, 0)});
  std::vector<List> values;
  for (int key = 0; key < kKeys; ++key) values.push_back(on_gpus(shape, {0, 1, 2, 3}));
  for (int round = 0; round < 5; ++round) {
    for (int key = 0; key < kKeys; ++key) {
      const List& mine = values[static_cast<std::size_t>(key)];
      store->push_pull(same_key(key, 4), mine, same_key(key, 4), mine, -key);
    }
  }
  float expected = 10;  // 1 + 2 + 3 + 4, and then four times as much each round
  for (int round = 1; round < 5; ++round) expected *= 4;
  for (const List& mine : values)
    for (const NDArray& value : mine) EXPECT_EQ(floats(value), std::vector<float>(100, expected));
}

TEST(CollectiveStore, AFailedInputFailsTheSum) {
  const auto store = KVStore::create("nccl");
  const Shape shape{4};
  store->init(Some{0}, List{filled(shape, 0)});
  List values = on_gpus(shape, {0, 1});
  broken_array(shape).copy_to(values[1]);
  push(*store, 0, values);
  EXPECT_NE(error_of([&] { pulled(*store, 0, shape); }).find("gone wrong"), std::string::npos);
}

}  // namespace
}  // namespace mxnet::kvstore
