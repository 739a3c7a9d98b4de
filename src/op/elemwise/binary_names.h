// SPDX-License-Identifier: Apache-2.0
// What the operators made of each binary row are called: names are data. The first name is the operator's, others are aliases;
// an empty list means that there is no such operator.
#pragma once
#include <span>
#include <vector>

#include "op/elemwise/binary_loops.h"

namespace mxnet {

using NameList = std::vector<const char*>;

struct BinaryNames {
  BinaryRow row;
  NameList elementwise;    // equal shapes
  NameList broadcast;
  NameList scalar;         // array op scalar
  NameList scalar_left;    // scalar op array
};

inline const std::vector<BinaryNames>& binary_names() {
  using enum BinaryRow;
  // clang-format off
  static const std::vector<BinaryNames> names = {
      {add, {"elemwise_add", "_Plus", "_add", "_plus", "_sparse_elemwise_add"},
       {"broadcast_add", "_sparse_broadcast_add", "_sparse_broadcast_plus", "broadcast_plus"}, {"_plus_scalar", "_PlusScalar"}, {}},
      {subtract, {"elemwise_sub", "_Minus", "_minus", "_sparse_elemwise_sub", "_sub"},
       {"broadcast_sub", "_sparse_broadcast_minus", "_sparse_broadcast_sub", "broadcast_minus"}, {"_minus_scalar", "_MinusScalar"},
       {"_rminus_scalar", "_RMinusScalar"}},
      {multiply, {"elemwise_mul", "_Mul", "_mul", "_sparse_elemwise_mul"}, {"broadcast_mul", "_sparse_broadcast_mul"},
       {"_mul_scalar", "_MulScalar"}, {}},
      {divide, {"elemwise_div", "_Div", "_div", "_sparse_elemwise_div"}, {"broadcast_div", "_sparse_broadcast_div"},
       {"_div_scalar", "_DivScalar"}, {"_rdiv_scalar", "_RDivScalar"}},
      {mod, {"_mod", "_Mod"}, {"broadcast_mod"}, {"_mod_scalar", "_ModScalar"}, {"_rmod_scalar", "_RModScalar"}},
      {power, {"_power", "_Power"}, {"broadcast_power"}, {"_power_scalar", "_PowerScalar"}, {"_rpower_scalar", "_RPowerScalar"}},
      {maximum, {"_maximum", "_Maximum"}, {"broadcast_maximum", "_npi_maximum"}, {"_maximum_scalar", "_MaximumScalar", "_npi_maximum_scalar"}, {}},
      {minimum, {"_minimum", "_Minimum"}, {"broadcast_minimum", "_npi_minimum"}, {"_minimum_scalar", "_MinimumScalar", "_npi_minimum_scalar"}, {}},
      {hypot, {"_hypot", "_Hypot"}, {"broadcast_hypot"}, {"_hypot_scalar", "_HypotScalar", "_npi_hypot_scalar"}, {}},
      {equal, {"_equal", "_Equal"}, {"broadcast_equal"}, {"_equal_scalar", "_EqualScalar"}, {}},
      {not_equal, {"_not_equal", "_Not_Equal"}, {"broadcast_not_equal"}, {"_not_equal_scalar", "_NotEqualScalar"}, {}},
      {greater, {"_greater", "_Greater"}, {"broadcast_greater"}, {"_greater_scalar", "_GreaterScalar"}, {}},
      {greater_equal, {"_greater_equal", "_Greater_Equal"}, {"broadcast_greater_equal"}, {"_greater_equal_scalar", "_GreaterEqualScalar"}, {}},
      {lesser, {"_lesser", "_Lesser"}, {"broadcast_lesser"}, {"_lesser_scalar", "_LesserScalar"}, {}},
      {lesser_equal, {"_lesser_equal", "_Lesser_Equal"}, {"broadcast_lesser_equal"}, {"_lesser_equal_scalar", "_LesserEqualScalar"}, {}},
      {logical_and, {"_logical_and", "_Logical_And"}, {"broadcast_logical_and"}, {"_logical_and_scalar", "_LogicalAndScalar"}, {}},
      {logical_or, {"_logical_or", "_Logical_Or"}, {"broadcast_logical_or"}, {"_logical_or_scalar", "_LogicalOrScalar"}, {}},
      {logical_xor, {"_logical_xor", "_Logical_Xor"}, {"broadcast_logical_xor"}, {"_logical_xor_scalar", "_LogicalXorScalar"}, {}},
  };
  // clang-format on
  return names;
}

}  // namespace mxnet
