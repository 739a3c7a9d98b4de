// SPDX-License-Identifier: Apache-2.0
// What calls of normalising and random operators write: as little as they can, so that inference
// on shared weights runs side by side.
#include <gtest/gtest.h>

#include <vector>

#include "op/op_def.h"

namespace mxnet {
namespace {

ParamsPtr parse(const OpDef& op, std::initializer_list<std::pair<const char*, const char*>> attrs) {
  std::vector<std::pair<std::string_view, std::string_view>> views(attrs.begin(), attrs.end());
  return op.parse(views);
}

using Positions = std::vector<int>;

TEST(NormFacts, ForwardOfBatchNormReadsItsStatesAndItsGradientWritesThem) {
  const OpDef& op = Registry::get().at("BatchNorm");
  const ParamsPtr params = parse(op, {{"fix_gamma", "False"}});
  EXPECT_EQ(op.state_inputs(params.get()), (Positions{3, 4}));
  EXPECT_EQ(op.mutated_inputs(params.get()), Positions{});
  const OpDef& gradient = Registry::get().at("_backward_BatchNorm");
  EXPECT_EQ(gradient.mutated_inputs(parse(gradient, {}).get()), (Positions{5, 6}));
}

TEST(NormFacts, GammaIsWrittenOnlyWhereItIsFixed) {
  const OpDef& op = Registry::get().at("BatchNorm");
  EXPECT_EQ(op.clobbered_inputs(parse(op, {{"fix_gamma", "False"}}).get()), Positions{});
  EXPECT_EQ(op.clobbered_inputs(parse(op, {{"fix_gamma", "True"}}).get()), Positions{1});
}

TEST(NormFacts, OperatorsThatWriteStatesForwardHaveThemAsStates) {
  const OpDef& op = Registry::get().at("sgd_mom_update");
  const ParamsPtr params = parse(op, {{"lr", "0.1"}});
  EXPECT_EQ(op.state_inputs(params.get()), op.mutated_inputs(params.get()));
}

TEST(NormFacts, DropoutDrawsOnlyWhereItDrops) {
  const OpDef& op = Registry::get().at("Dropout");
  const ParamsPtr usual = parse(op, {});
  EXPECT_TRUE(op.uses_random(usual.get(), true));
  EXPECT_FALSE(op.uses_random(usual.get(), false));
  EXPECT_TRUE(op.uses_random(parse(op, {{"mode", "always"}}).get(), false));
  EXPECT_FALSE(op.uses_random(parse(op, {{"p", "0"}}).get(), true));
}

TEST(NormFacts, OnlyRandomSlopesAreDrawn) {
  const OpDef& op = Registry::get().at("LeakyReLU");
  EXPECT_TRUE(op.uses_random(parse(op, {{"act_type", "rrelu"}}).get(), true));
  EXPECT_FALSE(op.uses_random(parse(op, {{"act_type", "rrelu"}}).get(), false));
  EXPECT_FALSE(op.uses_random(parse(op, {{"act_type", "gelu"}}).get(), true));
}

}  // namespace
}  // namespace mxnet
