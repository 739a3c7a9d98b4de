// SPDX-License-Identifier: Apache-2.0
// The nodes of the trilinear form's gradients.
#include "op/nn/trilinear_grad.h"

namespace mxnet {
namespace {

Attrs without(const Attrs& attrs, const std::string& name) {
  Attrs result;
  for (const auto& attr : attrs)
    if (attr.first != name) result.push_back(attr);
  return result;
}
Attrs with(const Attrs& attrs, const std::string& name, const std::string& value) {
  Attrs result = without(attrs, name);
  result.emplace_back(name, value);
  return result;
}

// The gradients that `wanted` names, null for others: of data, weight, bias.
std::array<Value, 3> backward(const std::string& layer, const Attrs& attrs, int32_t wanted,
                              const Value& dy, const Value& x, const Value& w) {
  std::array<Value, 3> result;
  if (wanted == 0) return result;
  const Value node =
      apply("_backward_" + layer, {dy, x, w}, with(attrs, "wanted", std::to_string(wanted)));
  for (int i = 0, o = 0; i < 3; ++i)
    if ((wanted >> i & 1) != 0) result[static_cast<std::size_t>(i)] = output(node, o++);
  return result;
}

Value forward(const std::string& layer, const Attrs& attrs, const Value& x, const Value& w,
              const Value& b) {
  if (!b) return apply(layer, {x, w}, with(attrs, "no_bias", "True"));
  return apply(layer, {x, w, b}, with(attrs, "no_bias", "False"));
}

}  // namespace

Gradients trilinear_gradient(const std::string& layer, Grad& grad) {
  int32_t wanted = 0;
  for (int i = 0; i < grad.num_in(); ++i) wanted |= grad.wants(i) ? 1 << i : 0;
  const auto all = backward(layer, grad.attrs(), wanted, grad.dout(0), grad.in(0), grad.in(1));
  return {all.begin(), all.begin() + grad.num_in()};
}

Gradients trilinear_backward_gradient(const std::string& layer, int32_t wanted, Grad& grad) {
  std::array<Value, 3> given;  // gradients of dx, dw, db
  for (int i = 0, o = 0; i < 3; ++i) {
    if ((wanted >> i & 1) == 0) continue;
    if (grad.has_dout(o)) given[static_cast<std::size_t>(i)] = grad.dout(o);
    ++o;
  }
  const auto& [gx, gw, gb] = given;
  const Value dy = grad.in(0), x = grad.in(1), w = grad.in(2);
  const Attrs attrs = without(grad.attrs(), "wanted");
  Gradients result(3);
  if (grad.wants(0)) {
    // The bias goes along with whichever product there is.
    if (gx) result[0] = forward(layer, attrs, gx, w, gb);
    if (gw) result[0] = result[0] + forward(layer, attrs, x, gw, gx ? Value() : gb);
    if (gb && !gx && !gw) result[0] = forward(layer, attrs, x, zeros_like(w), gb);
  }
  if (grad.wants(1) && gw) result[1] = backward(layer, attrs, kWantData, dy, x, gw)[0];
  if (grad.wants(2) && gx) result[2] = backward(layer, attrs, kWantWeight, dy, gx, w)[1];
  return result;
}

}  // namespace mxnet
