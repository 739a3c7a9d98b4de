// SPDX-License-Identifier: Apache-2.0
// Gradients in few bits: codes, residuals, parameters, stores.
#include "kvstore/compression.h"

#include <gtest/gtest.h>

#include <random>

#include "kvstore/kvstore.h"
#include "kvstore/stores.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)
using Some = std::vector<Key>;
using Arrays = std::vector<NDArray>;
using Params = std::vector<std::pair<std::string_view, std::string_view>>;

struct Step {
  std::vector<float> sent, rest;
};

Step step(const Compression& compression, const std::vector<float>& gradient,
          std::vector<float> rest) {
  const auto count = static_cast<int64_t>(gradient.size());
  std::vector<uint32_t> packed(static_cast<std::size_t>(compression.words(count)));
  std::vector<float> sent(gradient.size());
  compression.pack(gradient.data(), rest.data(), packed.data(), count);
  compression.unpack(packed.data(), sent.data(), count);
  return {sent, rest};
}

TEST(Compression, TwoBitsSendTheThresholdAndKeepTheRest) {
  const Compression two{CompressionType::kTwoBit, 0.5f};
  const Step first = step(two, {0.75f, -0.5f, 0.25f, -2, 0}, std::vector<float>(5));
  EXPECT_EQ(first.sent, (std::vector<float>{0.5f, -0.5f, 0, -0.5f, 0}));
  EXPECT_EQ(first.rest, (std::vector<float>{0.25f, 0, 0.25f, -1.5f, 0}));
  const Step second = step(two, {0.25f, 0, 0.25f, 0, 0}, first.rest);
  EXPECT_EQ(second.sent, (std::vector<float>{0.5f, 0, 0.5f, -0.5f, 0}));
}

TEST(Compression, OneBitSendsASignAndKeepsTheRest) {
  const Compression one{CompressionType::kOneBit, 0.5f};
  const Step first = step(one, {0.75f, 0.5f, -3}, std::vector<float>(3));
  EXPECT_EQ(first.sent, (std::vector<float>{1, -1, -1}));
  EXPECT_EQ(first.rest, (std::vector<float>{-0.25f, 1.5f, -2}));
}

TEST(Compression, NothingIsLostOverTime) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const Compression two{CompressionType::kTwoBit, 1};
  std::vector<float> rest(1003), given(1003), sent(1003);
  for (int i = 0; i < 50; ++i) {
    std::vector<float> gradient(1003);
    for (float& x : gradient) x = uniform(random);
    const Step now = step(two, gradient, rest);
    rest = now.rest;
    for (std::size_t k = 0; k < given.size(); ++k) {
      given[k] += gradient[k];
      sent[k] += now.sent[k];
    }
  }
  for (std::size_t k = 0; k < given.size(); ++k) EXPECT_NEAR(given[k], sent[k] + rest[k], 1e-4);
}

TEST(Compression, WordsHoldSixteenOrThirtyTwoElements) {
  EXPECT_EQ((Compression{CompressionType::kTwoBit, 1}).words(17), 2);
  EXPECT_EQ((Compression{CompressionType::kOneBit, 1}).words(32), 1);
}

TEST(Compression, ParametersAreChecked) {
  EXPECT_EQ(Compression::parse(Params{{"type", "2bit"}}).threshold, 0.5f);
  EXPECT_EQ(Compression::parse(Params{{"type", "1bit"}, {"threshold", "-0.25"}}).threshold, -0.25f);
  const auto error = [](const Params& params) {
    return error_of([&] { Compression::parse(params); });
  };
  EXPECT_NE(error({{"type", "3bit"}}).find("'3bit'"), std::string::npos);
  EXPECT_NE(error({{"threshold", "1"}}).find("given no type"), std::string::npos);
  EXPECT_NE(error({{"type", "2bit"}, {"threshold", "0"}}).find("above 0"), std::string::npos);
  EXPECT_NE(error({{"type", "2bit"}, {"threshold", "x"}}).find("'x'"), std::string::npos);
  EXPECT_NE(error({{"type", "2bit"}, {"limit", "1"}}).find("'limit'"), std::string::npos);
}

TEST(CompressedStore, SumsWhatWasSentWithAResidualForEachDevice) {
  for (const bool gpus : {false, true}) {
    const auto store = KVStore::create("device");
    store->set_compression(Params{{"type", "2bit"}, {"threshold", "0.5"}});
    const Shape shape{2};
    store->init(Some{"a"}, Arrays{filled(shape, 0)});
    const Arrays values{make<float>(shape, {0.75f, 0.25f}, gpus ? Device::gpu(0) : Device::cpu(0)),
                        make<float>(shape, {0.5f, -1}, gpus ? Device::gpu(1) : Device::cpu(1))};
    push(*store, "a", values);
    EXPECT_EQ(pulled(*store, "a", shape), (std::vector<float>{1, -0.5f}));
    push(*store, "a", values);  // residuals: 0.25 0.25 and 0 -0.5
    EXPECT_EQ(pulled(*store, "a", shape), (std::vector<float>{1, 0}));
  }
}

TEST(CompressedStore, GivesAnUpdaterWhatWasSentOfALoneArrayToo) {
  const auto store = KVStore::create("device");
  store->set_compression(Params{{"type", "2bit"}, {"threshold", "0.5"}});
  const Shape shape{2};
  store->init(Some{"a"}, Arrays{filled(shape, 0)});
  store->set_updater(
      [](const Key&, const NDArray& pushed, const NDArray& stored) { pushed.copy_to(stored); });
  const Arrays lone{make<float>(shape, {0.75f, 0.25f})};
  push(*store, "a", lone);
  EXPECT_EQ(pulled(*store, "a", shape), (std::vector<float>{0.5f, 0}));
  push(*store, "a", lone);  // residuals: 0.25 0.25
  EXPECT_EQ(pulled(*store, "a", shape), (std::vector<float>{0.5f, 0.5f}));
}

TEST(CompressedStore, TakesFloatsOnStoresOfDevicesOnly) {
  const Params params{{"type", "2bit"}};
  EXPECT_NE(error_of([&] { KVStore::create("local")->set_compression(params); }).find("'local'"),
            std::string::npos);
  const auto store = KVStore::create("device");
  store->set_compression(params);
  const NDArray doubles = make<double>({2}, {1, 2});
  store->init(Some{"a"}, Arrays{doubles});
  EXPECT_NE(error_of([&] { push(*store, "a", {doubles}); }).find("float64"), std::string::npos);
}

// 0.75 - 0.5 and 0.4 are left.
TEST(CompressedStore, WhatIsLeftOutlivesAnySettingAndStaysWithItsKeyAndDevice) {
  const Params two{{"type", "2bit"}, {"threshold", "0.5"}};
  for (const Params& again : {two, Params{{"type", "2bit"}, {"threshold", "0.25"}},
                              Params{{"type", "1bit"}, {"threshold", "0.2"}}}) {
    const auto store = KVStore::create("device");
    store->set_compression(two);
    const Shape shape{40};  // of other numbers of words with one bit and two
    store->init(Some{"a"}, Arrays{filled(shape, 0)});
    store->init(Some{"b"}, Arrays{filled(shape, 0)});
    push(*store, "a", {filled(shape, 0.75f, Device::gpu(0)), filled(shape, 0.4f, Device::gpu(1))});
    store->set_compression(again);
    store->set_compression(Params{{"type", "none"}});
    store->set_compression(again);
    const bool one_bit = again[0].second == "1bit";
    const float threshold = again[1].second == "0.5" ? 0.5f : one_bit ? 1 : 0.25f;
    push(*store, "b", {filled(shape, 0.1f, Device::gpu(0))});
    EXPECT_EQ(pulled(*store, "b", shape)[39], one_bit ? -1 : 0);
    // The devices in another order: 0.4 + 0.1 and 0.25 - 0.1 against the threshold.
    push(*store, "a", {filled(shape, 0.1f, Device::gpu(1)), filled(shape, -0.1f, Device::gpu(0))});
    EXPECT_EQ(pulled(*store, "a", shape)[39], one_bit ? 0 : threshold);
    push(*store, "a", {filled(shape, one_bit ? 0.9f : 0.36f, Device::gpu(0))});
    EXPECT_EQ(pulled(*store, "a", shape)[39], threshold) << again[1].second;
  }
}

TEST(CompressedStore, NoneTakesItBack) {
  const auto store = KVStore::create("device");
  store->set_compression(Params{{"type", "2bit"}});
  store->set_compression(Params{{"type", "none"}});
  store->init(Some{"a"}, Arrays{filled({1}, 0)});
  push(*store, "a", {filled({1}, 0.125f)});
  EXPECT_EQ(pulled(*store, "a", {1})[0], 0.125f);
}

}  // namespace
}  // namespace mxnet::kvstore
