// SPDX-License-Identifier: Apache-2.0
// Where the results of a chain's steps lie: each is there when it is read, in as few places as are
// read at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "op/fused/pointwise.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// Steps of these sources, all float32 unless `types` says another; the last one and `results` are
// the outputs.
PointwiseChain chain_of(const std::vector<std::vector<int>>& steps, int inputs,
                        const std::vector<int>& results = {},
                        const std::map<int, DType>& types = {}) {
  PointwiseChain chain;
  chain.inputs.assign(static_cast<std::size_t>(inputs), {DType::kFloat32, false});
  for (std::size_t k = 0; k < steps.size(); ++k) {
    PointwiseStep step;
    step.op = &Registry::get().at(steps[k].size() == 1 ? "tanh" : "elemwise_add");
    step.in = steps[k];
    const auto type = types.find(static_cast<int>(k));
    step.dtype = type == types.end() ? DType::kFloat32 : type->second;
    chain.steps.push_back(std::move(step));
  }
  chain.outputs = {static_cast<int>(steps.size()) - 1};
  chain.outputs.insert(chain.outputs.end(), results.begin(), results.end());
  chain.finish();
  return chain;
}

// Outputs have places below zero.
int place_of(const PointwiseStep& step, bool lends) {
  if (step.output >= 0) return -1 - step.output;
  return lends && step.lent >= 0 ? -1 - step.lent : step.slot;
}

// Runs a chain by names instead of numbers.
void expect_results_are_there(const PointwiseChain& chain, bool lends) {
  std::map<int, int> holds;  // by place: whose result
  for (std::size_t k = 0; k < chain.steps.size(); ++k) {
    const PointwiseStep& step = chain.steps[k];
    for (const int source : step.in) {
      if (source >= 0) continue;
      const int place = place_of(chain.steps[static_cast<std::size_t>(-1 - source)], lends);
      EXPECT_EQ(holds.at(place), -1 - source) << "read by step " << k;
    }
    const int place = place_of(step, lends);
    EXPECT_LT(place, chain.num_slots);
    holds[place] = static_cast<int>(k);
  }
  for (const int output : chain.outputs)
    EXPECT_EQ(holds.at(place_of(chain.steps[static_cast<std::size_t>(output)], lends)), output);
}

TEST(PointwisePlaces, OneAfterAnotherTakeOne) {
  const PointwiseChain chain = chain_of({{0}, {-1}, {-2}, {-3}, {-4}}, 1);
  EXPECT_EQ(chain.num_slots, 1);
  for (const PointwiseStep& step : chain.steps) {
    if (step.output < 0) {
      EXPECT_EQ(step.lent, 0) << "the output's place is free until the end";
    }
  }
}

TEST(PointwisePlaces, ValuesThatAreReadLaterKeepTheirs) {
  // t = tanh(x); u = tanh(y); v = t + u; w = v + t
  const PointwiseChain chain = chain_of({{0}, {1}, {-1, -2}, {-3, -1}}, 2);
  EXPECT_EQ(chain.num_slots, 2);
  for (const bool lends : {false, true}) expect_results_are_there(chain, lends);
}

TEST(PointwisePlaces, AResultOfAnotherWidthIsNotWrittenWhereItsSourceLies) {
  const PointwiseChain chain = chain_of({{0}, {-1}, {-2}}, 1, {}, {{1, DType::kFloat64}});
  EXPECT_NE(chain.steps[0].slot, chain.steps[1].slot);
  EXPECT_EQ(chain.steps[1].lent, -1);
  EXPECT_EQ(chain.steps[0].lent, 0);
}

TEST(PointwisePlaces, WhatNobodyReadsLiesInNoOutputsPlace) {
  const PointwiseChain chain = chain_of({{0}, {0}, {-2}}, 1, {0});
  EXPECT_EQ(chain.steps[1].lent, 0);
  expect_results_are_there(chain, true);
}

TEST(PointwisePlaces, AreAsManyAsAreReadAtATime) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
    const int count = 2 + below(30);
    std::vector<std::vector<int>> steps;
    std::vector<int> results;
    std::map<int, DType> types;
    for (int k = 0; k < count; ++k) {
      const auto source = [&] { return k == 0 || below(4) == 0 ? below(3) : -1 - below(k); };
      steps.push_back(below(2) == 0 ? std::vector<int>{source()}
                                    : std::vector<int>{source(), source()});
      if (k + 1 < count && below(8) == 0) results.push_back(k);
      if (below(6) == 0) types[k] = DType::kFloat64;
    }
    const PointwiseChain chain = chain_of(steps, 3, results, types);
    for (const bool lends : {false, true}) expect_results_are_there(chain, lends);
    // Beside those between steps, a result needs a place while its sources still have theirs.
    int most = 0;
    for (int k = 0; k < count; ++k) {
      std::set<int> live;
      for (int later = k; later < count; ++later) {
        for (const int source : steps[static_cast<std::size_t>(later)])
          if (source < 0 && -1 - source < k) live.insert(-1 - source);
      }
      most = std::max(most, static_cast<int>(live.size()) + 1);
    }
    int unread = 0;
    for (int k = 0; k < count; ++k)
      unread += std::none_of(steps.begin(), steps.end(),
                             [&](const auto& in) { return std::ranges::count(in, -1 - k) > 0; });
    EXPECT_LE(chain.num_slots, most + unread);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace mxnet
