// SPDX-License-Identifier: Apache-2.0
// Problems written as labels ("ij,jk->ik" as numbers), and operators that are nothing but such a
// problem. Those are linear in each argument, so that their gradients are problems of the same
// kind, to any order.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "op/matrix/contract.h"
#include "op/op_builder.h"
#include "op/run/gpu.h"

namespace mxnet {

using LabelList = InlineVector<int, 8>;
// A label for each dimension of each array. Labels from `broadcast_from` on may meet a dimension of
// one; others must agree.
struct LabelLists {
  std::vector<LabelList> in;
  LabelList out;
  int broadcast_from = INT_MAX;
};

// What is wrong with the shape of an argument (`message` completes "expected ..."), or with all of
// them and the parameters (the whole sentence).
struct LabelError {
  std::string message;
  int argument = -1;
};
[[noreturn]] void fail(Infer& infer, const LabelError& error);

// Sizes and strides that follow from labels and shapes.
struct LabelProblem {
  InlineVector<int64_t, 8> dims;
  std::vector<Strides> in;
  Strides out;
  Shape out_shape;
};

// Throws LabelError where shapes do not fit the labels.
LabelProblem label_problem(const LabelLists& lists, std::span<const Shape> shapes);

// What is known of the size of a label holds wherever it stands, in output 0 as well. REQUIRES: the
// rank of each input that has labels is known.
void infer_labelled(const LabelLists& lists, Infer& infer);

// What is asked of a problem whose parameters only it knows. The functions below are the same code
// for all of them.
struct LabelledOp {
  LabelLists (*labels)(const void* params, std::span<const Shape> shapes);
  double (*scale)(const void* params);  // the factor of the result
  // The argument whose gradient is computed.
  int32_t (*wrt)(const void* params);
  const char *forward_name, *backward_name;
};

// Output 0 by the labels, of inputs of known rank.
void infer_by_labels(const LabelledOp& op, const void* params, Infer& infer);
void contract_forward(const LabelledOp& op, const void* params, KernelContext& context);
Gradients gradient_of_forward(const LabelledOp& op, Grad& grad);

// Inputs: gradient of the result, then the arguments; result: gradient of argument `wrt`. `rule` is
// that of the forward operator.
void infer_backward(const LabelledOp& op, const void* params, Infer& infer,
                    void (*rule)(const void* params, Infer& forward));
void contract_backward(const LabelledOp& op, const void* params, KernelContext& context);
Gradients gradient_of_backward(const LabelledOp& op, const void* params, Grad& grad);

// P: the parameters, with a member `int32_t wrt` that only the gradient declares. kLabels(params,
// shapes) names the labels; kScale(params) is the factor of the result.
template <class P, LabelLists (*kLabels)(const P&, std::span<const Shape>),
          double (*kScale)(const P&)>
struct Multilinear {
  // Constant-initialised, like the names below: infers common cases without labels; false for
  // others.
  inline static bool (*infer_shortcut)(const P&, Infer&) = nullptr;

  // Constant-initialised: set while operators of this and other files are being defined.
  inline static const char* forward_name = nullptr;
  inline static const char* backward_name = nullptr;

  static const P& as(const void* params) { return *static_cast<const P*>(params); }
  static LabelledOp op() {
    return {[](const void* params, std::span<const Shape> shapes) {
              return kLabels(as(params), shapes);
            },
            [](const void* params) { return kScale(as(params)); },
            [](const void* params) { return as(params).wrt; }, forward_name, backward_name};
  }

  static void infer(const P& params, Infer& infer) {
    infer.one_dtype();
    if (infer_shortcut != nullptr && infer_shortcut(params, infer)) return;
    infer_by_labels(op(), &params, infer);
  }
  static void forward_cpu(const P& params, KernelContext& context) {
    contract_forward(op(), &params, context);
  }
  static Gradients gradient(const P&, Grad& grad) { return gradient_of_forward(op(), grad); }

  static void infer_backward(const P& params, Infer& infer) {
    mxnet::infer_backward(op(), &params, infer, [](const void* same, Infer& forward) {
      Multilinear::infer(as(same), forward);
    });
  }
  static void backward_cpu(const P& params, KernelContext& context) {
    contract_backward(op(), &params, context);
  }
  static Gradients gradient_backward(const P& params, Grad& grad) {
    return gradient_of_backward(op(), &params, grad);
  }

  // Completes a block that has its name, documentation, inputs and parameters.
  static void finish(OpBuilder<P>& op, DTypeSet types) {
    op.dtypes(types).infer(infer).cpu(forward_cpu).grad(gradient);
  }
  static void finish_backward(OpBuilder<P>& op, DTypeSet types) {
    op.param("wrt", &P::wrt, "Which argument's gradient.")
        .dtypes(types)
        .infer(infer_backward)
        .cpu(backward_cpu)
        .grad(gradient_backward);
  }

  // Both operators of a problem with two arguments; `params` declares the parameters on either,
  // `shortcut` what of the forward one comes before the general way.
  static bool define_pair(const char* name, const char* backward_op,
                          std::initializer_list<const char*> aliases, const char* doc,
                          const char* lhs, const char* rhs, DTypeSet types,
                          void (*params)(OpBuilder<P>&),
                          void (*shortcut)(OpBuilder<P>&) = nullptr) {
    forward_name = name;
    backward_name = backward_op;
    OpBuilder<P> forward(name);
    for (const char* alias : aliases) forward.alias(alias);
    forward.doc(doc).input(lhs, "First argument.").input(rhs, "Second argument.");
    params(forward);
    if (shortcut != nullptr) shortcut(forward);
    finish(forward, types);
    OpBuilder<P> backward(backward_name);
    backward.doc("Gradient of one argument of the operator after which it is called.")
        .input("head_grad", "Gradient of the result.")
        .input(lhs, "First argument.")
        .input(rhs, "Second argument.");
    params(backward);
    finish_backward(backward, types);
    return mark_portable({name, backward_op});
  }
};

}  // namespace mxnet
