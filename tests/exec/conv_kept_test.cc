// SPDX-License-Identifier: Apache-2.0
// Weights of convolutions in the layout of their kernel, which outlive calls outside of training. A
// write to the memory of the weight that no version counts shows whether they are kept.
#include <gtest/gtest.h>

#include <algorithm>

#include "exec/arrays.h"
#include "ndarray/dlpack.h"

namespace mxnet {
namespace {

constexpr int64_t kChannels = 64, kSide = 4;
const Attrs kAttrs{{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "64"}};

Values weights_of(float first) {
  Values weights(kChannels * kChannels * 9);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = first + static_cast<float>(i % 7) / 8;
  return weights;
}

class ConvKept : public testing::Test {
 protected:
  Values run() { return values_of(call("Convolution", {&x_, &weight_, &bias_}, kAttrs)); }
  // By an array of its own.
  Values expected(float first) {
    NDArray weight = array_of(weights_of(first), weight_.shape());
    return values_of(call("Convolution", {&x_, &weight, &bias_}, kAttrs));
  }
  bool runs_on_what_was_kept() {
    const Values before = run();
    auto* const weights = weight_.data_as<float>();
    const auto count = static_cast<std::size_t>(weight_.shape().size());
    std::for_each_n(weights, count, [](float& weight) { weight += 1; });
    const bool kept = run() == before;
    std::for_each_n(weights, count, [](float& weight) { weight -= 1; });
    return kept;
  }

  NDArray x_ = array_of(Values(kChannels * kSide * kSide, 1), {1, kChannels, kSide, kSide});
  NDArray weight_ = array_of(weights_of(0.5f), {kChannels, kChannels, 3, 3});
  NDArray bias_ = array_of(Values(kChannels, 2));
};

TEST_F(ConvKept, TheSecondCallKeepsTheWeightInItsLayout) {
  const Values expected = run();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(), expected);
  EXPECT_TRUE(runs_on_what_was_kept());
}

TEST_F(ConvKept, OneCallKeepsNothing) { EXPECT_FALSE(runs_on_what_was_kept()); }

TEST_F(ConvKept, AWriteEndsWhatWasKept) {
  for (int i = 0; i < 3; ++i) run();
  array_of(weights_of(-0.25f), weight_.shape()).copy_to(weight_);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(), expected(-0.25f));
  const Values other = weights_of(0.125f);
  weight_.sync_copy_from(other.data(), weight_.shape().size());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(), expected(0.125f));
}

TEST_F(ConvKept, NothingIsKeptOnceOthersHaveTheAddress) {
  for (int i = 0; i < 3; ++i) run();
  DLManagedTensor* const tensor = to_dlpack(weight_);
  for (int i = 0; i < 3; ++i) run();
  EXPECT_FALSE(runs_on_what_was_kept());
  tensor->deleter(tensor);
}

TEST_F(ConvKept, TrainingKeepsNothing) {
  for (int i = 0; i < 3; ++i) {
    const Recording recording;
    run();
  }
  EXPECT_FALSE(runs_on_what_was_kept());
}

TEST_F(ConvKept, ImagesOfTwoSizesEachHaveTheirs) {
  NDArray wide = array_of(Values(2 * kChannels * kSide * 8, 1), {2, kChannels, kSide, 8});
  const auto of_wide = [&] {
    return values_of(call("Convolution", {&wide, &weight_, &bias_}, kAttrs));
  };
  const Values expected = run(), expected_wide = of_wide();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(), expected);
    EXPECT_EQ(of_wide(), expected_wide);
  }
}

// One copy of a large weight for each size would soon fill the memory.
TEST_F(ConvKept, SizesThatWantOneLayoutShareIt) {
  NDArray two = array_of(Values(2 * kChannels * kSide * kSide, 1), {2, kChannels, kSide, kSide});
  const auto of_two = [&] {
    return values_of(call("Convolution", {&two, &weight_, &bias_}, kAttrs));
  };
  const Values expected = of_two();
  run();
  auto* const weights = weight_.data_as<float>();
  std::fill_n(weights, weight_.shape().size(), 0.0f);
  EXPECT_EQ(of_two(), expected);
}

// The values of an array are not in the same places of the layout where its last dimension is that
// of channels.
TEST_F(ConvKept, ChannelsInOtherPlacesMakeAnotherWeight) {
  NDArray x = x_.reshape({1, kSide, kSide, kChannels});
  NDArray weight = weight_.reshape({kChannels, 3, 3, kChannels});
  const Attrs attrs{
      {"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "64"}, {"layout", "NHWC"}};
  const auto channels_last = [&](NDArray& values) {
    return values_of(call("Convolution", {&x, &values, &bias_}, attrs));
  };
  NDArray alone = array_of(weights_of(0.5f), weight.shape());
  const Values expected = run(), expected_last = channels_last(alone);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(), expected);
    EXPECT_EQ(channels_last(weight), expected_last);
  }
}

}  // namespace
}  // namespace mxnet
