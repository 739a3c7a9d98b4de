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

#include "op/inline_vector.h"
#include "op/matrix/contract.h"
#include "op/op_builder.h"
#include "op/run/gpu.h"

namespace mxnet {

// A label for each dimension of each array. Labels from `broadcast_from` on may meet a dimension of
// one; others must agree.
struct LabelLists {
  std::vector<std::vector<int>> in;
  std::vector<int> out;
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
  std::vector<int64_t> dims;
  std::vector<Strides> in;
  Strides out;
  Shape out_shape;
};

// Throws LabelError where shapes do not fit the labels.
LabelProblem label_problem(const LabelLists& lists, std::span<const Shape> shapes);

// What is known of the size of a label holds wherever it stands, in output 0 as well. REQUIRES: the
// rank of each input that has labels is known.
void infer_labelled(const LabelLists& lists, Infer& infer);

// P: the parameters, with a member `int32_t wrt` that only the gradient declares. kLabels(params,
// shapes) names the labels; kScale(params) is the factor of the result.
template <class P, LabelLists (*kLabels)(const P&, std::span<const Shape>),
          double (*kScale)(const P&)>
struct Multilinear {
  static std::vector<Shape> shapes_of(KernelContext& context, int first) {
    std::vector<Shape> shapes;
    for (int i = first; i < context.num_in(); ++i) shapes.push_back(context.in(i).shape());
    return shapes;
  }

  // Constant-initialised, like the names below: infers common cases without labels; false for
  // others.
  inline static bool (*infer_shortcut)(const P&, Infer&) = nullptr;

  static void infer(const P& params, Infer& infer) {
    infer.one_dtype();
    if (infer_shortcut != nullptr && infer_shortcut(params, infer)) return;
    std::vector<Shape> shapes;
    bool known = true;
    for (int i = 0; i < infer.num_in(); ++i) {
      if (!infer.in(i).rank_known()) return;
      known = known && infer.in(i).known();
      shapes.push_back(infer.in(i).shape());
    }
    try {
      const LabelLists lists = kLabels(params, shapes);
      if (!known) return infer_labelled(lists, infer);
      infer.out(0).set_shape(label_problem(lists, shapes).out_shape);
    } catch (const LabelError& error) {
      fail(infer, error);
    }
  }
  static void forward_cpu(const P& params, KernelContext& context) {
    const std::vector<Shape> shapes = shapes_of(context, 0);
    LabelProblem problem = label_problem(kLabels(params, shapes), shapes);
    std::vector<Labelled> in;
    in.reserve(static_cast<std::size_t>(context.num_in()));
    for (int i = 0; i < context.num_in(); ++i)
      in.push_back({context.in(i), std::move(problem.in[static_cast<std::size_t>(i)])});
    contract(problem.dims, in, {context.out(0), problem.out}, context, kScale(params));
  }

  // Inputs: gradient of the result, then the arguments; result: gradient of argument `wrt`.
  static void infer_backward(const P& params, Infer& infer) {
    infer.one_dtype();
    if (params.wrt < 0 || params.wrt >= infer.num_in() - 1)
      infer.fail(fmt::format("given wrt {}, expected an argument from 0 to {}", params.wrt,
                             infer.num_in() - 2));
    InlineVector<InferArg, 4> arguments;
    for (int i = 1; i < infer.num_in(); ++i) arguments.push_back(infer.in(i));
    const InferArg result[] = {infer.in(0)};
    infer.follow([&params](Infer& forward) { Multilinear::infer(params, forward); },
                 arguments.span(), result);
    infer.out(0).same_shape(infer.in(params.wrt + 1));
  }
  static void backward_cpu(const P& params, KernelContext& context) {
    const std::vector<Shape> shapes = shapes_of(context, 1);
    LabelProblem problem = label_problem(kLabels(params, shapes), shapes);
    std::vector<Labelled> in{{context.in(0), problem.out}};
    for (int i = 0; i + 1 < context.num_in(); ++i) {
      if (i != params.wrt)
        in.push_back({context.in(i + 1), problem.in[static_cast<std::size_t>(i)]});
    }
    contract(problem.dims, in, {context.out(0), problem.in[static_cast<std::size_t>(params.wrt)]},
             context, kScale(params));
  }

  static Attrs attrs_without(const Grad& grad, std::string_view count_name) {
    Attrs attrs = grad.attrs();
    std::erase_if(
        attrs, [&](const auto& attr) { return attr.first == "wrt" || attr.first == count_name; });
    return attrs;
  }
  static Value backward_node(const OpDef& backward, std::vector<Value> inputs, Attrs attrs,
                             int wrt) {
    attrs.emplace_back("wrt", std::to_string(wrt));
    return apply(backward.name(), inputs, std::move(attrs));
  }

  // Constant-initialised: set while operators of this and other files are being defined.
  inline static const char* forward_name = nullptr;
  inline static const char* backward_name = nullptr;

  static Gradients gradient(const P&, Grad& grad) {
    Gradients result(static_cast<std::size_t>(grad.num_in()));
    const OpDef& backward = Registry::get().at(backward_name);
    std::vector<Value> inputs{grad.dout(0)};
    for (int i = 0; i < grad.num_in(); ++i) inputs.push_back(grad.in(i));
    for (int i = 0; i < grad.num_in(); ++i) {
      if (grad.wants(i))
        result[static_cast<std::size_t>(i)] =
            backward_node(backward, inputs, attrs_without(grad, "num_args"), i);
    }
    return result;
  }
  // Linear in everything but argument `wrt`, which only lends its shape.
  static Gradients gradient_backward(const P& params, Grad& grad) {
    Gradients result(static_cast<std::size_t>(grad.num_in()));
    const OpDef& backward = Registry::get().at(backward_name);
    std::vector<Value> inputs;
    inputs.reserve(static_cast<std::size_t>(grad.num_in()));
    for (int i = 0; i < grad.num_in(); ++i)
      inputs.push_back(i == params.wrt + 1 ? grad.dout(0) : grad.in(i));
    for (int i = 0; i < grad.num_in(); ++i) {
      if (!grad.wants(i) || i == params.wrt + 1) continue;
      Attrs attrs = attrs_without(grad, "num_args");
      result[static_cast<std::size_t>(i)] =
          i == 0 ? apply(forward_name, std::span(inputs).subspan(1), std::move(attrs))
                 : backward_node(backward, inputs, std::move(attrs), i - 1);
    }
    return result;
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
