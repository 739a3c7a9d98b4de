// SPDX-License-Identifier: Apache-2.0
// The ways to sum the values of a key differ in where they add and in what order: of integers all
// give the same bits, and of floats each the same ones every time.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/config.h"
#include "kvstore/local_store.h"
#include "kvstore/stores.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)
using Some = std::vector<Key>;

constexpr int kGpus = 8;
constexpr int64_t kCount = 5003;  // more than a tree's bound below, and no multiple of anything

struct Algorithm {
  const char* store;
  bool tree, peers;
};
constexpr Algorithm kAlgorithms[] = {
    {"local", false, true},
    {"local_update_cpu", false, true},
    {"local_allreduce_cpu", false, true},
    {"device", false, true},
    {"device", false, false},
    {"device", true, true},
    {"local_allreduce_device", true, true},
    {"nccl", false, true},
};

template <class T>
struct Inputs {
  std::vector<NDArray> arrays;
  std::vector<T> sum;
};

template <class T>
Inputs<T> inputs() {
  std::mt19937 random(23);
  Inputs<T> made;
  made.sum.resize(kCount);
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    std::vector<T> numbers(kCount);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<T>(static_cast<int>(random() % 31) - 15);
      if constexpr (std::is_floating_point_v<T>) numbers[i] /= 7;
      made.sum[i] = static_cast<T>(made.sum[i] + numbers[i]);
    }
    made.arrays.push_back(make(Shape{kCount}, numbers, Device::gpu(gpu)));
  }
  return made;
}

template <class T>
std::vector<T> sum_by(const Algorithm& algorithm, const std::vector<NDArray>& given) {
  KvstoreConfig config;
  config.usetree = algorithm.tree;
  config.tree_array_bound = 1000;
  config.enable_gpu_p2p = algorithm.peers;
  LocalStore store(parse_store_type(algorithm.store), config);
  const NDArray out = make(Shape{kCount}, std::vector<T>(kCount));
  store.init(Some{"w"}, std::vector<NDArray>{out});
  push(store, "w", given);
  store.pull(Some{"w"}, std::vector<NDArray>{out}, 0, true);
  return values<T>(out);
}

std::string name_of(const Algorithm& algorithm) {
  return std::string(algorithm.store) + (algorithm.tree ? " by trees" : "") +
         (algorithm.peers ? "" : " through the host");
}

template <class T>
class IntegerSums : public testing::Test {};
using Integers = testing::Types<int8_t, uint8_t, int32_t, int64_t>;
TYPED_TEST_SUITE(IntegerSums, Integers);

TYPED_TEST(IntegerSums, AreTheSameByEveryAlgorithm) {
  const auto given = inputs<TypeParam>();
  for (const Algorithm& algorithm : kAlgorithms)
    EXPECT_EQ(sum_by<TypeParam>(algorithm, given.arrays), given.sum) << name_of(algorithm);
}

TEST(FloatSums, AreTheSameEachTimeAndNearEachOther) {
  const auto given = inputs<float>();
  for (const Algorithm& algorithm : kAlgorithms) {
    const std::vector<float> first = sum_by<float>(algorithm, given.arrays);
    for (int again = 0; again < 3; ++again)
      EXPECT_EQ(sum_by<float>(algorithm, given.arrays), first) << name_of(algorithm);
    // Eight numbers below 2.2: seven additions, each off by half a unit in the last place at most.
    for (std::size_t i = 0; i < first.size(); ++i)
      ASSERT_LE(std::abs(first[i] - given.sum[i]), 2 * 7 * 9.6e-7F) << name_of(algorithm);
  }
}

}  // namespace
}  // namespace mxnet::kvstore
