// SPDX-License-Identifier: Apache-2.0
// A chain of pointwise operators (op/fused/pointwise.h) as the source of one CUDA kernel: every
// thread loads 16 bytes of each input, takes them through all operators in registers, and stores
// the outputs. Values between operators have the precision of their type, so that results are
// those of the operators one by one.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "op/fused/pointwise.h"

namespace mxnet::cuda {

// Inputs as a run finds them.
struct ChainInput {
  DType dtype;
  bool single;  // one element meets all of the others
};

struct ChainSource {
  // A kernel of one argument, ChainArguments by value.
  static constexpr const char* kKernel = "mxnet_chain";
  static constexpr int kThreads = 256;  // of a block
  // Arrays that a kernel is given: their addresses stay in registers.
  static constexpr int kMostArrays = 32;

  std::string text;
  int vector = 1;  // elements that a thread moves at a time
};

// As the kernel declares it: inputs, then outputs. The first `groups * vector` elements are moved
// in groups, which takes arrays aligned to a group's size; 0 groups take any.
struct ChainArguments {
  int64_t size, groups;
  const void* arrays[ChainSource::kMostArrays];
};

// The source for a chain. Nothing, with the reason, for one that holds an operator which is not
// known here, or too many arrays.
struct ChainRefusal {
  std::string reason;
  bool too_many_arrays = false;
};
std::optional<ChainSource> chain_source(const PointwiseChain& chain,
                                        const std::vector<ChainInput>& inputs,
                                        ChainRefusal* refusal);

// row_words.h and chain_words.h, which come before the kernels.
const char* chain_prelude();

}  // namespace mxnet::cuda
