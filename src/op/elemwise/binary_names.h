// SPDX-License-Identifier: Apache-2.0
// What the operators made of each binary row are called: names are data. The first name is the
// operator's, others are aliases; an empty list means that there is no such operator.
#pragma once
#include <span>
#include <vector>

#include "base/leaked.h"
#include "op/rows/binary_loops.h"

namespace mxnet {

using NameList = std::vector<const char*>;

struct BinaryNames {
  BinaryRow row;
  NameList elementwise;  // equal shapes
  NameList broadcast;
  NameList scalar;       // array op scalar
  NameList scalar_left;  // scalar op array
  // Names for the NumPy front end: arrays of mixed types, bool results of comparisons.
  const char* numpy = nullptr;
  const char* numpy_scalar = nullptr;
  const char* numpy_scalar_left = nullptr;
};

inline const std::vector<BinaryNames>& binary_names() {
  using enum BinaryRow;
  // clang-format off
  static Leaked<std::vector<BinaryNames>> names(std::vector<BinaryNames>{
      {add, {"elemwise_add", "_Plus", "_add", "_plus", "_sparse_elemwise_add"},
       {"broadcast_add", "_sparse_broadcast_add", "_sparse_broadcast_plus", "broadcast_plus"}, {"_plus_scalar", "_PlusScalar"}, {},
       "_npi_add", "_npi_add_scalar", nullptr},
      {subtract, {"elemwise_sub", "_Minus", "_minus", "_sparse_elemwise_sub", "_sub"},
       {"broadcast_sub", "_sparse_broadcast_minus", "_sparse_broadcast_sub", "broadcast_minus"}, {"_minus_scalar", "_MinusScalar"},
       {"_rminus_scalar", "_RMinusScalar"},
       "_npi_subtract", "_npi_subtract_scalar", "_npi_rsubtract_scalar"},
      {multiply, {"elemwise_mul", "_Mul", "_mul", "_sparse_elemwise_mul"}, {"broadcast_mul", "_sparse_broadcast_mul"},
       {"_mul_scalar", "_MulScalar"}, {},
       "_npi_multiply", "_npi_multiply_scalar", nullptr},
      {divide, {"elemwise_div", "_Div", "_div", "_sparse_elemwise_div"}, {"broadcast_div", "_sparse_broadcast_div"},
       {"_div_scalar", "_DivScalar"}, {"_rdiv_scalar", "_RDivScalar"},
       "_npi_true_divide", "_npi_true_divide_scalar", "_npi_rtrue_divide_scalar"},
      {mod, {"_mod", "_Mod"}, {"broadcast_mod"}, {"_mod_scalar", "_ModScalar"}, {"_rmod_scalar", "_RModScalar"},
       "_npi_mod", "_npi_mod_scalar", "_npi_rmod_scalar"},
      {power, {"_power", "_Power"}, {"broadcast_power"}, {"_power_scalar", "_PowerScalar"}, {"_rpower_scalar", "_RPowerScalar"},
       "_npi_power", "_npi_power_scalar", "_npi_rpower_scalar"},
      {maximum, {"_maximum", "_Maximum"}, {"broadcast_maximum", "_npi_maximum"}, {"_maximum_scalar", "_MaximumScalar", "_npi_maximum_scalar"}, {}},
      {minimum, {"_minimum", "_Minimum"}, {"broadcast_minimum", "_npi_minimum"}, {"_minimum_scalar", "_MinimumScalar", "_npi_minimum_scalar"}, {}},
      {hypot, {"_hypot", "_Hypot"}, {"broadcast_hypot"}, {"_hypot_scalar", "_HypotScalar", "_npi_hypot_scalar"}, {},
       "_npi_hypot", nullptr, nullptr},
      {arctan2, {}, {}, {}, {}, "_npi_arctan2", "_npi_arctan2_scalar", "_npi_rarctan2_scalar"},
      {copysign, {}, {}, {}, {}, "_npi_copysign", "_npi_copysign_scalar", "_npi_rcopysign_scalar"},
      {ldexp, {}, {}, {}, {}, "_npi_ldexp", "_npi_ldexp_scalar", "_npi_rldexp_scalar"},
      {bitwise_and, {}, {}, {}, {}, "_npi_bitwise_and", "_npi_bitwise_and_scalar"},
      {bitwise_or, {}, {}, {}, {}, "_npi_bitwise_or", "_npi_bitwise_or_scalar"},
      {bitwise_xor, {}, {}, {}, {}, "_npi_bitwise_xor", "_npi_bitwise_xor_scalar"},
      {lcm, {}, {}, {}, {}, "_npi_lcm", "_npi_lcm_scalar"},
      {equal, {"_equal", "_Equal"}, {"broadcast_equal"}, {"_equal_scalar", "_EqualScalar"}, {},
       "_npi_equal", "_npi_equal_scalar", nullptr},
      {not_equal, {"_not_equal", "_Not_Equal"}, {"broadcast_not_equal"}, {"_not_equal_scalar", "_NotEqualScalar"}, {},
       "_npi_not_equal", "_npi_not_equal_scalar", nullptr},
      {greater, {"_greater", "_Greater"}, {"broadcast_greater"}, {"_greater_scalar", "_GreaterScalar"}, {},
       "_npi_greater", "_npi_greater_scalar", nullptr},
      {greater_equal, {"_greater_equal", "_Greater_Equal"}, {"broadcast_greater_equal"}, {"_greater_equal_scalar", "_GreaterEqualScalar"}, {},
       "_npi_greater_equal", "_npi_greater_equal_scalar", nullptr},
      {lesser, {"_lesser", "_Lesser"}, {"broadcast_lesser"}, {"_lesser_scalar", "_LesserScalar"}, {},
       "_npi_less", "_npi_less_scalar", nullptr},
      {lesser_equal, {"_lesser_equal", "_Lesser_Equal"}, {"broadcast_lesser_equal"}, {"_lesser_equal_scalar", "_LesserEqualScalar"}, {},
       "_npi_less_equal", "_npi_less_equal_scalar", nullptr},
      {logical_and, {"_logical_and", "_Logical_And"}, {"broadcast_logical_and"}, {"_logical_and_scalar", "_LogicalAndScalar"}, {}},
      {logical_or, {"_logical_or", "_Logical_Or"}, {"broadcast_logical_or"}, {"_logical_or_scalar", "_LogicalOrScalar"}, {}},
      {logical_xor, {"_logical_xor", "_Logical_Xor"}, {"broadcast_logical_xor"}, {"_logical_xor_scalar", "_LogicalXorScalar"}, {}},
  });
  // clang-format on
  return *names;
}

}  // namespace mxnet
