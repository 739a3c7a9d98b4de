// SPDX-License-Identifier: Apache-2.0
// CUDA C++ of one kernel for a chain of pointwise operators, made from the rows' own text. Nothing
// of CUDA is needed to make it; compiling is fusion_compiler.h's part.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace mxnet::cuda {

// A row as text. Its words are those of row_words.h, its arguments x (and y = x, for slopes of
// results), or a and b; slopes also have dy.
struct RowText {
  enum class Kind : uint8_t { kUnary, kUnarySlope, kBinary, kLeftSlope, kRightSlope };
  const char* name;  // of the row: "sigmoid", "add"
  Kind kind;
  const char* expression;
  bool real;  // computed in floating point whatever the type
};
std::span<const RowText> row_texts();
// Null where there is none.
const RowText* find_row(RowText::Kind kind, std::string_view name);

// One operator of a chain.
struct FusedStep {
  const RowText* row = nullptr;  // null: the argument itself, converted
  std::vector<int> in;           // i: input i of the chain; -1 - k: what step k computed
  // An argument that is a number: as text, in place of the one at this position; -1 = none.
  int number_at = -1;
  double number = 0;
  DType compute = DType::kFloat32;  // the type that the arguments have
  DType result = DType::kFloat32;
};

struct FusedInput {
  DType dtype;
  bool single;  // one element that meets all
};

struct FusedChain {
  std::vector<FusedInput> inputs;
  std::vector<FusedStep> steps;
  std::vector<int> outputs;  // steps
};

// The kernel `name`(n, inputs..., outputs...): every result is rounded to its operator's type, so
// that numbers are the same with and without fusion.
std::string fused_kernel(const FusedChain& chain, const std::string& name);
// What stands before any number of such kernels.
const std::string& fused_prelude();

}  // namespace mxnet::cuda
