// SPDX-License-Identifier: Apache-2.0
// The errors of a call that cannot be made: their texts, out of the way of the calls that can.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "ndarray/ndarray.h"
#include "op/op_def.h"

namespace mxnet {

// How errors name input `i` and output `o`.
std::string input_title(const OpDef& op, const void* params, std::size_t i);
std::string output_title(std::size_t o);

[[noreturn]] void throw_wrong_count(const OpDef& op, const void* params, std::size_t given);
[[noreturn]] void throw_no_array(const OpDef& op, const void* params, std::size_t input);
[[noreturn]] void throw_wrong_device(const OpDef& op, const std::string& title, Device given,
                                     Device expected);
[[noreturn]] void throw_wrong_type(const OpDef& op, const void* params, std::size_t input,
                                   DType given);
inline void check_num_inputs(const OpDef& op, const void* params, std::size_t given) {
  if (std::cmp_not_equal(given, op.num_inputs(params))) throw_wrong_count(op, params, given);
}
// Of each input the operator computes the type, or it looks at shape and type only.
inline void check_dtypes(const OpDef& op, const void* params, std::span<const ArrayType> in) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!op.dtypes().contains(in[i].dtype) && !op.type_only(static_cast<int>(i)))
      throw_wrong_type(op, params, i, in[i].dtype);
  }
}
// `inferred` is not all known.
[[noreturn]] void throw_incomplete(const OpDef& op, bool has_inputs, std::size_t output,
                                   const ArrayType& inferred);
[[noreturn]] void throw_wrong_output(const OpDef& op, std::size_t output, const NDArray& given,
                                     const ArrayType& inferred);

}  // namespace mxnet
