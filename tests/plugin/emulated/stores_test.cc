// SPDX-License-Identifier: Apache-2.0
// Stores whose arrays lie on a GPU: what they do beside operators is done by the plug-in's kernels,
// and gives the bits of the CPU.
#include <gtest/gtest.h>

#include "kvstore/kvstore.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)
using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

// What a store has after two pushes of the same gradients, the second of which adds what the first
// has left.
Values pushed_twice(const Pairs& compression, const Device (&devices)[2]) {
  const Shape shape{5, 9};  // not a whole number of words
  const auto store = KVStore::create("device");
  store->set_compression(compression);
  const std::vector<Key> key{Key("a")}, twice(2, Key("a"));
  store->init(key, std::vector<NDArray>{array_of(Values(45), shape)});
  const std::vector<NDArray> gradients{array_of(random_values(45, -2, 2), shape, devices[0]),
                                       array_of(random_values(45, -1, 2), shape, devices[1])};
  const std::vector<NDArray> out{NDArray(shape, DType::kFloat32, devices[0])};
  Values result;
  for (int i = 0; i < 2; ++i) {
    store->push(twice, gradients, 0);
    store->pull(key, out, 0, true);
    const Values now = values_of(out[0]);
    result.insert(result.end(), now.begin(), now.end());
  }
  return result;
}

TEST(GpuStores, GradientsAreCompressedOnTheirDevice) {
  const Device cpus[] = {Device::cpu(0), Device::cpu(1)}, gpus[] = {Device::gpu(0), Device::gpu(1)};
  for (const char* type : {"1bit", "2bit"}) {
    for (const char* threshold : {"0.5", "0.75"}) {
      const Pairs compression{{"type", type}, {"threshold", threshold}};
      const Values want = pushed_twice(compression, cpus);
      EXPECT_EQ(pushed_twice(compression, gpus), want) << type << ' ' << threshold;
      EXPECT_NE(Values(want.begin(), want.begin() + 45), Values(want.begin() + 45, want.end()))
          << "what is left counts";
    }
  }
}

}  // namespace
}  // namespace mxnet
