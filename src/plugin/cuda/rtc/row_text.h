// SPDX-License-Identifier: Apache-2.0
// The rows of elementwise functions (op/elemwise, op/norm) as source text: the same expressions
// that the CPU's loops are compiled from.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "op/rows/binary_loops.h"

namespace mxnet::cuda {

// A function over the computed type T, to be written into a kernel's source.
struct RowFunction {
  std::string name;    // "value_exp", "slope_exp", "value_add", "lhs_power", "activation_relu"
  std::string source;  // its definition, a template over T
};

enum class UnaryKind : uint8_t {
  kReal,   // computed in float where elements are integers
  kExact,  // computed in the type itself
};

struct UnaryText {
  std::string_view name;  // of the row
  UnaryKind kind;
  RowFunction value;  // (T x)
  RowFunction slope;  // (T dy, T arg)
};
const std::vector<UnaryText>& unary_texts();

struct BinaryText {
  BinaryRow row;
  std::string_view name;
  RowFunction value;        // (T a, T b); of comparisons: bool
  RowFunction left, right;  // (T dy, T a, T b); empty where there is no slope
};
// In the order of BinaryRow.
const std::vector<BinaryText>& binary_texts();

struct ActivationText {
  RowFunction value;  // (T x, T s)
  RowFunction slope;  // (T dy, T arg, T s)
};
// In the order of ActivationRow.
const std::vector<ActivationText>& activation_texts();

}  // namespace mxnet::cuda
