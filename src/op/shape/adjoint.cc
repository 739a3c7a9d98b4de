// SPDX-License-Identifier: Apache-2.0
// What is the same for all linear operators.
#include "op/shape/adjoint.h"

namespace mxnet {

void infer_adjoint(Infer& infer, const std::function<void(Infer&)>& rule) {
  const InferArg array[] = {infer.in(1)}, result[] = {infer.in(0)};
  infer.follow(rule, array, result);
  infer.out(0).same_shape(infer.in(1));
  infer.out(0).same_dtype(infer.in(0));
}

Gradients gradient_of_linear(const std::string& backward_name, Grad& grad) {
  return {apply(backward_name, {grad.dout(0), grad.in(0)}, grad.attrs())};
}

Gradients gradient_of_adjoint(const std::string& forward_name, Attrs (*linear_attrs)(const Attrs&),
                              Grad& grad) {
  Attrs attrs = linear_attrs == nullptr ? grad.attrs() : linear_attrs(grad.attrs());
  return {apply(forward_name, {grad.dout(0)}, std::move(attrs)), Value()};
}

}  // namespace mxnet
