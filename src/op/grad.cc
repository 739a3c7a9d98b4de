// SPDX-License-Identifier: Apache-2.0
// Building of gradient nodes.
#include "op/grad.h"

#include <fmt/format.h>

#include "base/error.h"
#include "op/inline_vector.h"
#include "op/op_def.h"
#include "op/params/parsed_attrs.h"

namespace mxnet {
namespace {

Value scalar_op(std::string_view op, const Value& a, double scalar) {
  return a ? apply(op, {a}, {{"scalar", scalar_text(scalar)}}) : Value();
}

}  // namespace

Value apply(std::string_view op_name, std::span<const Value> inputs, Attrs attrs) {
  const OpDef& op = Registry::get().at(op_name);
  auto node = make_ref<ir::Node>();
  node->op = &op;
  if (!op.key_var_num_args().empty())
    attrs.emplace_back(op.key_var_num_args(), std::to_string(inputs.size()));
  node->attrs = std::move(attrs);
  InlineVector<std::pair<std::string_view, std::string_view>, 8> views;
  for (const auto& [key, text] : node->attrs) views.emplace_back(key, text);
  // Through the thread's cache: rules ask for the same few nodes at every backward pass.
  node->params = parse_attrs(op, views.span())->params();
  node->inputs.reserve(inputs.size());
  for (const Value& input : inputs) {
    MX_ASSERT(input);
    node->inputs.push_back(input.entry());
  }
  return Value(ir::Entry{std::move(node), 0, 0});
}

Value apply(std::string_view op, std::initializer_list<Value> inputs, Attrs attrs) {
  return apply(op, std::span<const Value>(inputs.begin(), inputs.size()), std::move(attrs));
}

Value output(const Value& value, int index) {
  return Value(ir::Entry{value.entry().node, index, 0});
}

Value operator+(const Value& a, const Value& b) {
  if (!a) return b;
  return b ? apply("elemwise_add", {a, b}) : a;
}
Value operator-(const Value& a, const Value& b) {
  if (!b) return a;
  return a ? apply("elemwise_sub", {a, b}) : -b;
}
Value operator*(const Value& a, const Value& b) {
  return a && b ? apply("elemwise_mul", {a, b}) : Value();
}
Value operator/(const Value& a, const Value& b) {
  return a ? apply("elemwise_div", {a, b}) : Value();
}
Value operator-(const Value& a) { return a ? apply("negative", {a}) : a; }
Value operator+(const Value& a, double scalar) { return scalar_op("_plus_scalar", a, scalar); }
Value operator-(const Value& a, double scalar) { return scalar_op("_minus_scalar", a, scalar); }
Value operator-(double scalar, const Value& a) { return scalar_op("_rminus_scalar", a, scalar); }
Value operator*(const Value& a, double scalar) { return scalar_op("_mul_scalar", a, scalar); }
Value operator/(const Value& a, double scalar) { return scalar_op("_div_scalar", a, scalar); }
Value operator/(double scalar, const Value& a) { return scalar_op("_rdiv_scalar", a, scalar); }
std::string scalar_text(double value) { return fmt::format("{:.17g}", value); }
Value zeros_like(const Value& a) { return apply("zeros_like", {a}); }

Value Grad::dout(int i) const {
  const Value& given = douts_[static_cast<std::size_t>(i)];
  return given ? given : zeros_like(out(i));
}

}  // namespace mxnet
