// SPDX-License-Identifier: Apache-2.0
// Sums of host arrays: the order of additions, threads, aliasing, types.
#include "kvstore/host_sum.h"
#include "base/config.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/half.h"
#include "base/omp.h"
#include "kvstore/host_reducer.h"
#include "openmp_under_tsan.h"

namespace mxnet::kvstore {
namespace {

constexpr uint32_t kSeed = 20240611;

std::vector<std::vector<float>> random_arrays(std::size_t count, std::size_t size) {
  std::mt19937 random(kSeed);
  std::normal_distribution<float> normal(0, 10);
  std::vector<std::vector<float>> arrays(count, std::vector<float>(size));
  for (auto& array : arrays)
    for (float& x : array) x = normal(random);
  return arrays;
}

template <class T>
std::vector<T> summed(const std::vector<std::vector<T>>& arrays, SumOrder order, int threads = 1) {
  std::vector<T> result(arrays.front().size());
  std::vector<const void*> in;
  for (const auto& array : arrays) in.push_back(array.data());
  void* out[] = {result.data()};
  sum_on_host({in, out, static_cast<int64_t>(result.size()), dtype_of<T>, order, threads});
  return result;
}

// As the comment on SumOrder states it, one element at a time.
float expected(const std::vector<std::vector<float>>& arrays, std::size_t i, SumOrder order) {
  float sum = arrays[0][i];
  const std::size_t step = order == SumOrder::kLeft ? 1 : 4;
  for (std::size_t k = 1; k < arrays.size(); k += step) {
    float group = arrays[k][i];
    for (std::size_t j = k + 1; j < std::min(k + step, arrays.size()); ++j) group += arrays[j][i];
    sum += group;
  }
  return sum;
}

TEST(HostSum, AddsInTheStatedOrder) {
  for (std::size_t count = 1; count <= 10; ++count) {
    const auto arrays = random_arrays(count, 3000);
    for (const SumOrder order : {SumOrder::kLeft, SumOrder::kGrouped}) {
      const std::vector<float> sum = summed(arrays, order);
      for (std::size_t i = 0; i < sum.size(); ++i)
        ASSERT_EQ(sum[i], expected(arrays, i, order)) << count << " arrays, seed " << kSeed;
    }
  }
}

TEST(HostSum, DoesNotDependOnTheNumberOfThreads) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  // Above and below the size from which on the caches are passed by.
  for (const std::size_t size : {std::size_t{5000}, std::size_t{300001}}) {
    const auto arrays = random_arrays(6, size);
    const std::vector<float> alone = summed(arrays, SumOrder::kGrouped, 1);
    for (const int threads : {2, 3, 7})
      EXPECT_EQ(summed(arrays, SumOrder::kGrouped, threads), alone);
  }
}

TEST(HostSum, AnOutputMayBeAnyOfTheInputs) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  for (const std::size_t size : {std::size_t{5000}, std::size_t{300001}}) {
    const auto arrays = random_arrays(7, size);
    const std::vector<float> apart = summed(arrays, SumOrder::kLeft);
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      auto copies = arrays;
      std::vector<const void*> in;
      for (const auto& array : copies) in.push_back(array.data());
      void* out[] = {copies[k].data()};
      sum_on_host({in, out, static_cast<int64_t>(size), DType::kFloat32, SumOrder::kLeft, 2});
      EXPECT_EQ(copies[k], apart) << k;
    }
  }
}

TEST(HostSum, WritesAllOutputsWhateverTheirAlignment) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  const auto arrays = random_arrays(3, 300001);
  const std::vector<float> sum = summed(arrays, SumOrder::kLeft);
  std::vector<std::vector<float>> outs(4, std::vector<float>(sum.size() + 4, -1));
  std::vector<const void*> in;
  for (const auto& array : arrays) in.push_back(array.data());
  std::vector<void*> out;
  for (std::size_t k = 0; k < outs.size(); ++k) out.push_back(outs[k].data() + k);
  sum_on_host({in, out, static_cast<int64_t>(sum.size()), DType::kFloat32, SumOrder::kLeft, 2});
  for (std::size_t k = 0; k < outs.size(); ++k) {
    EXPECT_TRUE(std::equal(sum.begin(), sum.end(), outs[k].begin() + static_cast<int64_t>(k)));
    EXPECT_EQ(outs[k].back(), -1) << "nothing past the end";
  }
}

TEST(HostSum, HalvesAreRoundedAtEachAddition) {
  // 2049 does not exist in half precision: 2048 + 1 rounds back to 2048 each time.
  const std::vector<std::vector<float16>> arrays{
      {float16(2048.0f)}, {float16(1.0f)}, {float16(1.0f)}};
  EXPECT_EQ(static_cast<float>(summed(arrays, SumOrder::kLeft)[0]), 2048.0f);
  EXPECT_EQ(static_cast<float>(summed(arrays, SumOrder::kGrouped)[0]), 2050.0f);
}

TEST(HostSum, IntegersWrapAround) {
  const std::vector<std::vector<uint8_t>> arrays{{200}, {100}};
  EXPECT_EQ(summed(arrays, SumOrder::kLeft)[0], 44);
}

TEST(HostSum, OnlyBigArraysAreSplitOverThreads) {
  KvstoreConfig config;
  config.bigarray_bound = 1000;
  config.reduction_nthreads = 1024;
  EXPECT_EQ(sum_threads(1000, config), 1);
  EXPECT_EQ(sum_threads(1001, config), omp_threads());
}

TEST(HostSum, ThreadsOfBigArraysAreLimited) {
  KvstoreConfig config;
  config.bigarray_bound = 1000;
  config.reduction_nthreads = 1;
  EXPECT_EQ(sum_threads(1001, config), 1);
}

TEST(HostSum, SerialSumsTakeOneThread) {
  KvstoreConfig config;
  config.bigarray_bound = 0;
  config.reduction_nthreads = 1024;
  EXPECT_EQ(sum_threads(1 << 20, config), omp_threads());
  config.serial_push = true;
  EXPECT_EQ(sum_threads(1 << 20, config), 1);
}

}  // namespace
}  // namespace mxnet::kvstore
