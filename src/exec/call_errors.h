// SPDX-License-Identifier: Apache-2.0
// The errors of a call that cannot be made: their texts, out of the way of the calls that can.
#pragma once
#include <cstddef>
#include <string>

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
// `inferred` is not all known.
[[noreturn]] void throw_incomplete(const OpDef& op, bool has_inputs, std::size_t output,
                                   const ArrayType& inferred);
[[noreturn]] void throw_wrong_output(const OpDef& op, std::size_t output, const NDArray& given,
                                     const ArrayType& inferred);

}  // namespace mxnet
