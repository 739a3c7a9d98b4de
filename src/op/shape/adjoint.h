// SPDX-License-Identifier: Apache-2.0
// Operators that are linear in their one array: the gradient is another linear operator, its
// adjoint, whose gradient is the operator again. Both take the same parameters.
#pragma once
#include <string>

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

// Defines the operator and its adjoint, _backward_<name>. REQUIRES: no other operator has P.
template <class P>
OpBuilder<P> define_linear(const LinearOp<P>& spec) {
  static const std::string forward_name = spec.name, backward_name = "_backward_" + forward_name;
  static const auto linear_attrs = spec.linear_attrs;
  static const auto rule = spec.infer;
  OpBuilder<P> back(backward_name.c_str());
  back.doc("Gradient of the operator after whose name it is called.")
      .input("head_grad", "Gradient of the result.")
      .input("data", "The array; only its shape matters.")
      .type_only(1)
      .dtypes(spec.backward_types)
      .infer([](const P& params, Infer& infer) {
        infer.follow(rule, params, {infer.in(1)}, {infer.in(0)});
        infer.out(0).same_shape(infer.in(1));
        infer.out(0).same_dtype(infer.in(0));
      })
      .cpu(spec.backward)
      .grad([](const P&, Grad& grad) {
        Attrs attrs = linear_attrs == nullptr ? grad.attrs() : linear_attrs(grad.attrs());
        return Gradients{apply(forward_name, {grad.dout(0)}, std::move(attrs)), Value()};
      });
  spec.declare(back);
  OpBuilder<P> op(spec.name);
  op.doc(spec.doc).input("data", "The array.").dtypes(spec.forward_types);
  spec.declare(op);
  op.infer(spec.infer).cpu(spec.forward).grad([](const P&, Grad& grad) {
    return Gradients{apply(backward_name, {grad.dout(0), grad.in(0)}, grad.attrs())};
  });
  return op;
}

}  // namespace mxnet
