// SPDX-License-Identifier: Apache-2.0
// Bytes that plans of well-known networks need: batch 32, 224x224, float32, without weights.
#include <gtest/gtest.h>

#include "exec/plan_fixture.h"
#include "networks.h"

namespace mxnet {
namespace {

constexpr int kBatch = 32;
constexpr std::size_t kMB = 1000000;

std::size_t training_bytes(const Symbol& network) {
  return planned_bytes(network, images(kBatch), Pass::kTraining).arena;
}

// The projection of the first stage: what it reads, what it makes, and what that is added to.
TEST(PlannedBytes, ResNet50InferenceNeedsNoMoreThanItsWidestSum) {
  constexpr std::size_t kWide = std::size_t{kBatch} * 256 * 56 * 56 * sizeof(float);
  const std::size_t bytes = planned_bytes(resnet50_v1(), images(kBatch), Pass::kInference).arena;
  EXPECT_LE(bytes, 2 * kWide + kWide / 4 + kMB);
  EXPECT_LE(bytes, 215 * kMB);
}

TEST(PlannedBytes, ResNet50Training) {
  const Symbol network = resnet50_v1();
  EXPECT_LE(training_bytes(network), 2600 * kMB);
  const Setting mirror("MXNET_BACKWARD_DO_MIRROR", "1");
  EXPECT_LE(training_bytes(network), 1600 * kMB);
}

TEST(PlannedBytes, ResNet50StaysWithinABudget) {
  const Setting budget("MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(900 * kMB));
  EXPECT_LE(training_bytes(resnet50_v1()), 900 * kMB);
}

TEST(PlannedBytes, MemoryOptimisationTakesTheBestOfBoth) {
  const Symbol network = resnet50_v1();
  const Setting best("MXNET_MEMORY_OPT", "1");
  EXPECT_LE(training_bytes(network), 900 * kMB);
}

// The gradients of the second convolution one after the other: two arrays of its width at a time.
TEST(PlannedBytes, Vgg16WithSegmentsNeedsLittleMoreThanTwoOfItsWidestArrays) {
  constexpr std::size_t kWide = std::size_t{kBatch} * 64 * 224 * 224 * sizeof(float);
  const Symbol network = vgg16();
  const std::size_t plain = training_bytes(network);
  EXPECT_LE(plain, 2000 * kMB);  // reordered weights and their gradients included
  const Setting best("MXNET_MEMORY_OPT", "1");
  const std::size_t bytes = training_bytes(network);
  EXPECT_LE(bytes, 2 * kWide + kWide / 3);
  EXPECT_LE(bytes, plain * 6 / 10);
}

TEST(PlannedBytes, Vgg16StaysWithinABudgetOfSixTenths) {
  const Symbol network = vgg16();
  const std::size_t budget = training_bytes(network) * 6 / 10;
  const Setting row("MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(budget));
  EXPECT_LE(training_bytes(network), budget);
}

TEST(PlannedBytes, NothingIsSharedAtMatchRangeZero) {
  const Symbol network = vgg16();
  const std::size_t plain = training_bytes(network);
  const Setting none("NNVM_EXEC_MATCH_RANGE", "0");
  EXPECT_GT(training_bytes(network), plain);
}

}  // namespace
}  // namespace mxnet
