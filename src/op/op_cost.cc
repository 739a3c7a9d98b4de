// SPDX-License-Identifier: Apache-2.0
// The set of operators that sum products.
#include "op/op_cost.h"

#include <algorithm>

#include "op/marked_ops.h"

namespace mxnet {
namespace {

using SumsOfProducts = MarkedOps<struct SumsOfProductsMark>;

double elements(const ArrayType& type) { return static_cast<double>(type.shape.size()); }

}  // namespace

bool mark_products(std::initializer_list<std::string_view> ops) {
  for (const std::string_view op : ops) SumsOfProducts::add(op);
  return true;
}
bool sums_products(const OpDef& op) { return SumsOfProducts::contains(op); }

double elementary_operations(const OpDef& op, std::span<const ArrayType* const> inputs,
                             const ArrayType& first_output) {
  if (!sums_products(op) || inputs.size() < 2) return elements(first_output);
  const ArrayType& weight = *inputs[1];
  const int64_t rows = weight.shape.ndim() > 0 ? std::max<int64_t>(1, weight.shape[0]) : 1;
  return elements(first_output) * elements(weight) / static_cast<double>(rows);
}

}  // namespace mxnet
