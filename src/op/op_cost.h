// SPDX-License-Identifier: Apache-2.0
// How much work an operator is, roughly: what passes weigh against the memory that its results
// take.
#pragma once
#include <initializer_list>
#include <span>
#include <string_view>

#include "op/infer.h"
#include "op/op_def.h"

namespace mxnet {

// Declares that each element of the results is a whole sum of products: dear to compute again.
// Called by the file that defines the operators, before main. For initializers: true.
bool mark_products(std::initializer_list<std::string_view> ops);
bool sums_products(const OpDef& op);

// Elementary operations of a call: one for each element of the first result or, in sums of
// products, one for each weight that the element meets (the second input holds the weights, of one
// output channel in each row).
double elementary_operations(const OpDef& op, std::span<const ArrayType* const> inputs,
                             const ArrayType& first_output);

}  // namespace mxnet
