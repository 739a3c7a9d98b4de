// SPDX-License-Identifier: Apache-2.0
// Stores over simulated GPUs.
#include <gtest/gtest.h>

#include "base/config.h"
#include "device/sim/sim_control.h"
#include "kvstore/device_reducer.h"
#include "kvstore/local_store.h"
#include "kvstore/stores.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)
using Some = std::vector<Key>;
using Arrays = std::vector<NDArray>;

SimControl& control() { return *sim_control(device_api(DeviceType::kGPU)); }

Arrays on_gpus(const Shape& shape, int count) {
  Arrays arrays;
  for (int i = 0; i < count; ++i)
    arrays.push_back(filled(shape, static_cast<float>(i + 1), Device::gpu(i)));
  return arrays;
}

TEST(DeviceStore, SumsAndPullsOnAnyNumberOfGpus) {
  for (const char* type : {"local", "device"}) {
    for (const int gpus : {1, 2, 3, 8}) {
      const auto store = KVStore::create(type);
      const Shape shape{50, 3};
      store->init(Some{0}, Arrays{filled(shape, 0)});
      const Arrays values = on_gpus(shape, gpus);
      for (int step = 0; step < 2; ++step) push(*store, 0, values);
      const Arrays outs = on_gpus(shape, gpus);
      store->pull(same_key(0, outs.size()), outs, 0, true);
      const float sum = static_cast<float>(gpus * (gpus + 1) / 2);
      for (const NDArray& out : outs)
        EXPECT_EQ(floats(out), std::vector<float>(150, sum)) << type << " " << gpus;
      EXPECT_EQ(pulled(*store, 0, shape), std::vector<float>(150, sum));
    }
  }
}

TEST(DeviceStore, AnUpdaterWorksOnTheGpuThatSums) {
  const auto store = KVStore::create("device");
  const Shape shape{4};
  store->init(Some{0}, Arrays{filled(shape, 0)});
  Device at_update;
  store->set_updater([&](const Key&, const NDArray& pushed, const NDArray& stored) {
    at_update = pushed.device();
    EXPECT_EQ(stored.device(), pushed.device());
    pushed.copy_to(stored);
  });
  push(*store, 0, on_gpus(shape, 2));
  EXPECT_TRUE(at_update.is_gpu());
  EXPECT_EQ(pulled(*store, 0, shape), (std::vector<float>{3, 3, 3, 3}));
}

TEST(DeviceStore, KeysAreSpreadOverTheGpusBySize) {
  const KvstoreConfig config;
  DeviceReducer reducer(config);
  const Arrays big = on_gpus({1000}, 2), small = on_gpus({100}, 2);
  EXPECT_EQ(reducer.home(0, big), Device::gpu(0));
  for (std::size_t key = 1; key <= 3; ++key) EXPECT_EQ(reducer.home(key, small), Device::gpu(1));
  EXPECT_EQ(reducer.home(0, big), Device::gpu(0)) << "a key stays where it is";
}

TEST(DeviceStore, PeerAccessDecidesTheWayBetweenGpus) {
  const Shape shape{1000};
  const auto copies_to = [&](int gpu, bool p2p) {
    KvstoreConfig config;
    config.enable_gpu_p2p = p2p;
    LocalStore store(parse_store_type("device"), config);
    store.init(Some{0}, Arrays{filled(shape, 0)});
    const Arrays values = on_gpus(shape, 2);
    Engine::get().wait_for_all();
    const SimStats before = control().stats(gpu);
    push(store, 0, values);
    Engine::get().wait_for_all();
    SimStats after = control().stats(gpu);
    after.peer -= before.peer;
    after.host_to_device -= before.host_to_device;
    EXPECT_EQ(pulled(store, 0, shape)[0], 3);
    return after;
  };
  EXPECT_EQ(copies_to(0, true).peer, 1U);
  EXPECT_EQ(copies_to(0, false).peer, 0U);
  EXPECT_GE(copies_to(0, false).host_to_device, 1U);
}

TEST(DeviceStore, MixedDevicesAreSummedOnTheHost) {
  const auto store = KVStore::create("device");
  const Shape shape{4};
  store->init(Some{0}, Arrays{filled(shape, 0)});
  push(*store, 0, {filled(shape, 1, Device::gpu(0)), filled(shape, 2)});
  EXPECT_EQ(pulled(*store, 0, shape)[0], 3);
}

}  // namespace
}  // namespace mxnet::kvstore
