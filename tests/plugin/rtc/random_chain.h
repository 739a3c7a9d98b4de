// SPDX-License-Identifier: Apache-2.0
// Chains of pointwise operators for tests: one of a single operator, or of several that a seeded
// generator picks.
#pragma once
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "op/fused/pointwise.h"
#include "plugin/cuda/rtc/chain_source.h"

namespace mxnet::testing {

struct TestChain {
  PointwiseChain chain;
  std::vector<cuda::ChainInput> inputs;
};

// Every operator that may be in a chain and has source text, as its own name.
const std::vector<const OpDef*>& chain_operators();

// `op` alone on inputs of `dtype`; nothing where the operator does not take it.
std::optional<TestChain> single_chain(const OpDef& op, DType dtype, int64_t size);

// Two to eight operators on arrays of `size` elements, one and more inputs and outputs.
TestChain random_chain(std::mt19937& rng, int64_t size);

}  // namespace mxnet::testing
