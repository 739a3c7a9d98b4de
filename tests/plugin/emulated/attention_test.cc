// SPDX-License-Identifier: Apache-2.0
// Attention in plans for inference: products, softmax and weighted values as one step, at once and
// apart (attention_host.cc), and what stays as it is written.
#include <gtest/gtest.h>

#include "tests/plugin/emulated/networks.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

constexpr Type kHalves[] = {{"float16", 4e-3}, {"bfloat16", 3e-2}};
constexpr int64_t kBatch = 2, kHeads = 3;

struct Sizes {
  int64_t queries, keys, size;
};
constexpr Sizes kSizes[] = {{5, 5, 8}, {4, 4, 16}, {1, 1, 24}};
constexpr Sizes kApart[] = {{5, 7, 8}, {6, 3, 16}};

Attrs heads(int64_t count = kHeads) { return {{"heads", std::to_string(count)}}; }

// The chain as 1.x programs write it; `between` is what they do to the weights.
template <class Between>
Value self_attention(Images& net, const Sizes& s, const Between& between) {
  const Value in = net.input("in", {s.queries, kBatch, kHeads * 3 * s.size});
  const Value scores = apply("_contrib_interleaved_matmul_selfatt_qk", {in}, heads());
  return apply("_contrib_interleaved_matmul_selfatt_valatt", {in, between(scores)}, heads());
}
Value softmax(const Value& scores, const Attrs& attrs = {}) {
  return apply("softmax", {scores}, attrs);
}
int steps_fused(const std::string& plan) { return count(plan, "(_sg_attention)"); }

TEST(GpuAttention, OfOneArray) {
  for (const Type& type : kHalves) {
    for (const Sizes& sizes : kSizes) {
      SCOPED_TRACE(std::string(type.name) + ", size " + std::to_string(sizes.size));
      Images net(type.name);
      const Value out = self_attention(net, sizes, [](const Value& s) { return softmax(s); });
      const std::string plan = net.check(out, type.tolerance);
      EXPECT_EQ(steps_fused(plan), 1) << plan;
      EXPECT_EQ(count(plan, "\n  "), 1) << plan;
    }
  }
}

TEST(GpuAttention, OfQueriesAndAMemory) {
  for (const Type& type : kHalves) {
    for (const Sizes& s : kApart) {
      SCOPED_TRACE(std::string(type.name) + ", size " + std::to_string(s.size));
      Images net(type.name);
      const Value queries = net.input("queries", {s.queries, kBatch, kHeads * s.size});
      const Value memory = net.input("memory", {s.keys, kBatch, kHeads * 2 * s.size});
      // Both are made by others, as projections are.
      const Value made = memory * memory, asked = queries * queries;
      const Value scores = apply("_contrib_interleaved_matmul_encdec_qk", {asked, made}, heads());
      const Value weights = softmax(scores, {{"axis", "2"}, {"temperature", "0.5"}});
      const Value out =
          apply("_contrib_interleaved_matmul_encdec_valatt", {made, weights}, heads());
      const std::string plan = net.check(out, type.tolerance);
      EXPECT_EQ(steps_fused(plan), 1) << plan;
    }
  }
}

// In inference nothing is dropped.
TEST(GpuAttention, ADropoutOfTheWeightsIsNoneThere) {
  Images net("float16");
  const Value out = self_attention(net, kSizes[1], [](const Value& scores) {
    return apply("Dropout", {softmax(scores)}, {{"p", "0.5"}});
  });
  const std::string plan = net.check(out, 4e-3);
  EXPECT_EQ(steps_fused(plan), 1) << plan;
}

TEST(GpuAttention, WhatIsNoPlainAttentionStaysApart) {
  const auto plain = [](const Value& scores) { return softmax(scores); };
  const auto expect_apart = [](const char* type, const Sizes& sizes, const auto& between,
                               double tolerance) {
    Images net(type);
    const std::string plan = net.check(self_attention(net, sizes, between), tolerance);
    EXPECT_EQ(steps_fused(plan), 0) << plan;
  };
  expect_apart("float32", kSizes[0], plain, 1e-5);
  expect_apart("float16", {4, 4, 12}, plain, 4e-3);   // no whole vectors
  expect_apart("float16", {2, 2, 136}, plain, 4e-3);  // too long
  // Along the queries; of some keys; of something else than the products.
  const auto turned = [](const Value& scores) { return softmax(scores, {{"axis", "1"}}); };
  expect_apart("float16", kSizes[0], turned, 4e-3);
  const auto doubled = [](const Value& scores) { return softmax(scores + scores); };
  expect_apart("float16", kSizes[0], doubled, 4e-3);
  const auto logs = [](const Value& scores) { return apply("log_softmax", {scores}); };
  expect_apart("float16", kSizes[0], logs, 4e-3);
  Images some("float16");
  const Value lengths =
      apply("_full", {}, {{"shape", "(6, 5)"}, {"value", "3"}, {"dtype", "int32"}});
  const Value of_some = self_attention(some, kSizes[0], [&](const Value& scores) {
    return apply("softmax", {scores, lengths}, {{"use_length", "True"}});
  });
  EXPECT_EQ(steps_fused(some.check(of_some, 4e-3)), 0);
}

TEST(GpuAttention, WeightsThatSomebodyReadsAreKept) {
  Images net("float16");
  Value weights = variable("none");
  const Value out = self_attention(net, kSizes[0], [&](const Value& scores) {
    weights = softmax(scores);
    return weights;
  });
  const Value both = apply("sum", {out}) + apply("sum", {weights});
  EXPECT_EQ(steps_fused(net.check(both, 4e-3)), 0);
}

// Values of one array weighted by the attention within another.
TEST(GpuAttention, TwoArraysAreNotOne) {
  Images net("float16");
  const Shape shape{5, kBatch, kHeads * 3 * 8};
  const Value in = net.input("in", shape), other = net.input("other", shape);
  const Value scores = apply("_contrib_interleaved_matmul_selfatt_qk", {in}, heads());
  const Value out =
      apply("_contrib_interleaved_matmul_selfatt_valatt", {other, softmax(scores)}, heads());
  EXPECT_EQ(steps_fused(net.check(out, 4e-3)), 0);
}

TEST(GpuAttention, TrainingKeepsTheWeights) {
  Images net("float16");
  const Value out = self_attention(net, kSizes[0], [](const Value& s) { return softmax(s); });
  const Value loss = apply("sum", {out});
  EXPECT_EQ(steps_fused(net.train(loss, kGpu).second), 0);
  const Setting off("MXNET_USE_FUSION", "0");
  EXPECT_EQ(steps_fused(net.run(out, kGpu).second), 0);
}

TEST(GpuAttention, NothingToAttendTo) {
  Images net("float16");
  const Value out = self_attention(net, {0, 0, 8}, [](const Value& s) { return softmax(s); });
  EXPECT_EQ(steps_fused(net.check(out, 4e-3)), 0);
}

}  // namespace
}  // namespace mxnet
