// SPDX-License-Identifier: Apache-2.0
// What each pointwise operator is in the source of a kernel.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "op/fused/pointwise.h"

namespace mxnet::cuda {

// The C++ name of a stored type in chain_words.h.
const char* stored_name(DType dtype);
// "float" for the half types, "uint8_t" for bool.
const char* computed_name(DType dtype);

// The functions that a source needs, in the order of their first use, each once.
class SourceFunctions {
 public:
  // Returns its name, to be called by.
  const std::string& use(const std::string& name, const std::string& source);
  const std::string& text() const { return text_; }

 private:
  std::set<std::string> names_;
  std::string text_;
};

// A value that a step reads: a variable of the computed type.
struct ChainValue {
  std::string variable;
  DType dtype;
};

// The expression of a step, of the computed type of `step.dtype`, with that type's precision.
// Nothing for operators that are not known here.
std::optional<std::string> step_expression(const PointwiseStep& step,
                                           const std::vector<ChainValue>& in,
                                           SourceFunctions* functions);

// The operators, by name, that step_expression knows, sorted.
std::vector<std::string> known_operators();

}  // namespace mxnet::cuda
