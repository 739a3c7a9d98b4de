// SPDX-License-Identifier: Apache-2.0
// Operators that are linear in their one array: the gradient is another linear operator, its
// adjoint, whose gradient is the operator again. Both take the same parameters.
#pragma once
#include <functional>
#include <string>

#include "base/leaked.h"
#include "op/op_builder.h"

namespace mxnet {

template <class P>
struct LinearOp {
  const char* name;
  const char* doc;
  void (*declare)(OpBuilder<P>&);  // its parameters
  void (*infer)(const P&, Infer&);
  void (*forward)(const P&, KernelContext&);  // in: x; out: y
  // in: gradient of y, and x for its shape alone; out: gradient of x.
  void (*backward)(const P&, KernelContext&);
  // Types that the two compute in; kAllTypes where they only move elements.
  DTypeSet forward_types = kAllTypes, backward_types = kAllTypes;
  // Of an operator that also adds constants: the attributes that leave its linear part.
  Attrs (*linear_attrs)(const Attrs&) = nullptr;
};

// The rule of an adjoint from that of its operator.
void infer_adjoint(Infer& infer, const std::function<void(Infer&)>& rule);
Gradients gradient_of_linear(const std::string& backward_name, Grad& grad);
// `linear_attrs`: as of LinearOp.
Gradients gradient_of_adjoint(const std::string& forward_name, Attrs (*linear_attrs)(const Attrs&),
                              Grad& grad);

// Defines the operator and its adjoint, _backward_<name>. REQUIRES: no other operator has P.
template <class P>
OpBuilder<P> define_linear(const LinearOp<P>& spec) {
  static Leaked<std::string> forward_name(spec.name), backward_name("_backward_" + *forward_name);
  static const auto linear_attrs = spec.linear_attrs;
  static const auto rule = spec.infer;
  OpBuilder<P> back(backward_name->c_str());
  back.doc("Gradient of the operator after whose name it is called.")
      .input("head_grad", "Gradient of the result.")
      .input("data", "The array; only its shape matters.")
      .type_only(1)
      .dtypes(spec.backward_types)
      .infer([](const P& params, Infer& infer) {
        infer_adjoint(infer, [&](Infer& forward) { rule(params, forward); });
      })
      .cpu(spec.backward)
      .grad([](const P&, Grad& grad) {
        return gradient_of_adjoint(*forward_name, linear_attrs, grad);
      });
  spec.declare(back);
  OpBuilder<P> op(spec.name);
  op.doc(spec.doc).input("data", "The array.").dtypes(spec.forward_types);
  spec.declare(op);
  op.infer(spec.infer).cpu(spec.forward).grad([](const P&, Grad& grad) {
    return gradient_of_linear(*backward_name, grad);
  });
  return op;
}

}  // namespace mxnet
