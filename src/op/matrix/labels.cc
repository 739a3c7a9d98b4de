// SPDX-License-Identifier: Apache-2.0
// From labels and shapes to sizes and strides, and what operators of labels are made of.
#include "op/matrix/labels.h"

#include <fmt/format.h>

#include <map>

#include "op/inline_vector.h"

namespace mxnet {

namespace {

std::vector<Shape> shapes_of(KernelContext& context, int first) {
  std::vector<Shape> shapes;
  shapes.reserve(static_cast<std::size_t>(context.num_in() - first));
  for (int i = first; i < context.num_in(); ++i) shapes.push_back(context.in(i).shape());
  return shapes;
}

Attrs attrs_of_arguments(const Grad& grad) {
  Attrs attrs = grad.attrs();
  std::erase_if(attrs,
                [](const auto& attr) { return attr.first == "wrt" || attr.first == "num_args"; });
  return attrs;
}
Value backward_node(const LabelledOp& op, std::span<const Value> inputs, Attrs attrs, int wrt) {
  attrs.emplace_back("wrt", std::to_string(wrt));
  return apply(op.backward_name, inputs, std::move(attrs));
}

}  // namespace

void fail(Infer& infer, const LabelError& error) {
  if (error.argument >= 0) infer.in(error.argument).fail(error.message);
  infer.fail(error.message);
}

void infer_labelled(const LabelLists& lists, Infer& infer) {
  InferArg out = infer.out(0);
  out.set_shape(Shape::unknown(static_cast<int>(lists.out.size())));
  // Those of labels that broadcast: 1 where all are, unknown while another one may be larger.
  std::map<int, int64_t> sizes;
  const auto learn = [&](InferArg arg, const LabelList& labels, bool yields) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const int64_t dim = arg.dim(static_cast<int>(i));
      int64_t& size = sizes.try_emplace(labels[i], dim).first->second;
      if (yields && labels[i] >= lists.broadcast_from) {
        size = size > 1 || dim > 1 ? std::max(size, dim) : std::min(size, dim);
      } else if (size < 0) {
        size = dim;
      }
    }
  };
  for (std::size_t i = 0; i < lists.in.size(); ++i)
    learn(infer.in(static_cast<int>(i)), lists.in[i], true);
  learn(out, lists.out, false);
  const auto tell = [&](InferArg arg, const LabelList& labels, bool yields) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (!yields || labels[i] < lists.broadcast_from)
        arg.set_dim(static_cast<int>(i), sizes[labels[i]]);
    }
  };
  for (std::size_t i = 0; i < lists.in.size(); ++i)
    tell(infer.in(static_cast<int>(i)), lists.in[i], true);
  tell(out, lists.out, false);
}

LabelProblem label_problem(const LabelLists& lists, std::span<const Shape> shapes) {
  int count = 0;
  for (const auto& labels : lists.in) {
    for (int l : labels) count = std::max(count, l + 1);
  }
  for (int l : lists.out) count = std::max(count, l + 1);
  LabelProblem problem;
  problem.dims.assign(static_cast<std::size_t>(count), 1);
  InlineVector<bool, 8> seen(problem.dims.size(), false);
  for (std::size_t a = 0; a < shapes.size(); ++a) {
    for (std::size_t i = 0; i < lists.in[a].size(); ++i) {
      const int label = lists.in[a][i];
      const auto l = static_cast<std::size_t>(label);
      const int64_t dim = shapes[a][static_cast<int>(i)];
      const bool yields = label >= lists.broadcast_from;
      if (!seen[l] || (yields && problem.dims[l] == 1)) {
        problem.dims[l] = dim;
      } else if (problem.dims[l] != dim && !(yields && dim == 1)) {
        throw LabelError{fmt::format("{} in dimension {}", problem.dims[l], i),
                         static_cast<int>(a)};
      }
      seen[l] = true;
    }
  }
  problem.in.reserve(shapes.size());
  for (std::size_t a = 0; a < shapes.size(); ++a) {
    const Strides steps = row_major(shapes[a]);
    Strides& strides = problem.in.emplace_back(problem.dims.size(), 0);
    for (std::size_t i = 0; i < lists.in[a].size(); ++i) {
      const auto l = static_cast<std::size_t>(lists.in[a][i]);
      if (shapes[a][static_cast<int>(i)] == problem.dims[l]) strides[l] += steps[i];
    }
  }
  InlineVector<int64_t, 8> dims;
  for (int l : lists.out) dims.push_back(problem.dims[static_cast<std::size_t>(l)]);
  problem.out_shape = Shape(std::span<const int64_t>(dims));
  problem.out.assign(problem.dims.size(), 0);
  const Strides steps = row_major(problem.out_shape);
  for (std::size_t i = 0; i < lists.out.size(); ++i)
    problem.out[static_cast<std::size_t>(lists.out[i])] += steps[i];
  return problem;
}

void infer_by_labels(const LabelledOp& op, const void* params, Infer& infer) {
  std::vector<Shape> shapes;
  shapes.reserve(static_cast<std::size_t>(infer.num_in()));
  bool known = true;
  for (int i = 0; i < infer.num_in(); ++i) {
    if (!infer.in(i).rank_known()) return;
    known = known && infer.in(i).known();
    shapes.push_back(infer.in(i).shape());
  }
  try {
    const LabelLists lists = op.labels(params, shapes);
    if (!known) return infer_labelled(lists, infer);
    infer.out(0).set_shape(label_problem(lists, shapes).out_shape);
  } catch (const LabelError& error) {
    fail(infer, error);
  }
}

void contract_forward(const LabelledOp& op, const void* params, KernelContext& context) {
  const std::vector<Shape> shapes = shapes_of(context, 0);
  LabelProblem problem = label_problem(op.labels(params, shapes), shapes);
  std::vector<Labelled> in;
  in.reserve(static_cast<std::size_t>(context.num_in()));
  for (int i = 0; i < context.num_in(); ++i)
    in.push_back({context.in(i), std::move(problem.in[static_cast<std::size_t>(i)])});
  contract(problem.dims, in, {context.out(0), problem.out}, context, op.scale(params));
}

Gradients gradient_of_forward(const LabelledOp& op, Grad& grad) {
  Gradients result(static_cast<std::size_t>(grad.num_in()));
  std::vector<Value> inputs{grad.dout(0)};
  for (int i = 0; i < grad.num_in(); ++i) inputs.push_back(grad.in(i));
  for (int i = 0; i < grad.num_in(); ++i) {
    if (grad.wants(i))
      result[static_cast<std::size_t>(i)] = backward_node(op, inputs, attrs_of_arguments(grad), i);
  }
  return result;
}

void infer_backward(const LabelledOp& op, const void* params, Infer& infer,
                    void (*rule)(const void* params, Infer& forward)) {
  infer.one_dtype();
  const int wrt = op.wrt(params);
  if (wrt < 0 || wrt >= infer.num_in() - 1)
    infer.fail(
        fmt::format("given wrt {}, expected an argument from 0 to {}", wrt, infer.num_in() - 2));
  InlineVector<InferArg, 4> arguments;
  for (int i = 1; i < infer.num_in(); ++i) arguments.push_back(infer.in(i));
  const InferArg result[] = {infer.in(0)};
  infer.follow([=](Infer& forward) { rule(params, forward); }, arguments.span(), result);
  infer.out(0).same_shape(infer.in(wrt + 1));
}

void contract_backward(const LabelledOp& op, const void* params, KernelContext& context) {
  const std::vector<Shape> shapes = shapes_of(context, 1);
  LabelProblem problem = label_problem(op.labels(params, shapes), shapes);
  const int wrt = op.wrt(params);
  std::vector<Labelled> in{{context.in(0), problem.out}};
  for (int i = 0; i + 1 < context.num_in(); ++i) {
    if (i != wrt) in.push_back({context.in(i + 1), problem.in[static_cast<std::size_t>(i)]});
  }
  contract(problem.dims, in, {context.out(0), problem.in[static_cast<std::size_t>(wrt)]}, context,
           op.scale(params));
}

// Linear in everything but argument `wrt`, which only lends its shape.
Gradients gradient_of_backward(const LabelledOp& op, const void* params, Grad& grad) {
  Gradients result(static_cast<std::size_t>(grad.num_in()));
  const int wrt = op.wrt(params);
  std::vector<Value> inputs;
  inputs.reserve(static_cast<std::size_t>(grad.num_in()));
  for (int i = 0; i < grad.num_in(); ++i)
    inputs.push_back(i == wrt + 1 ? grad.dout(0) : grad.in(i));
  for (int i = 0; i < grad.num_in(); ++i) {
    if (!grad.wants(i) || i == wrt + 1) continue;
    Attrs attrs = attrs_of_arguments(grad);
    result[static_cast<std::size_t>(i)] =
        i == 0 ? apply(op.forward_name, std::span(inputs).subspan(1), std::move(attrs))
               : backward_node(op, inputs, std::move(attrs), i - 1);
  }
  return result;
}

}  // namespace mxnet
