// SPDX-License-Identifier: Apache-2.0
// LeakyReLU: six functions that are straight above zero. Two are more than a row of activations:
// prelu, whose slope is learnt for each channel, and rrelu, which draws it while training.
#include "op/generators/random_key.h"
#include "op/norm/activation.h"
#include "op/norm/activation_params.h"
#include "op/norm/keep_mask.h"
#include "op/norm/prelu.h"
#include "op/op_builder.h"
#include "op/run/gpu_table.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

using Kind = LeakyKind;

ActivationRow row_of(Kind kind) {
  switch (kind) {
    case Kind::kElu:
      return ActivationRow::elu;
    case Kind::kGelu:
      return ActivationRow::gelu;
    case Kind::kSelu:
      return ActivationRow::selu;
    default:
      return ActivationRow::leaky;
  }
}

// --- rrelu -----------------------------------------------------------------------------------

bool draws(const LeakyParams& params, bool training) {
  return params.act_type == Kind::kRrelu && training;
}

void rrelu_forward(const LeakyParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0), &mask = context.out(1);
  if (const GpuTable* gpu = gpu_table(context)) {
    if (context.training()) {
      gpu->random(context.stream()->native(), GpuDistribution::kUniform, draw_key(context.device()),
                  params.lower_bound, params.upper_bound, mask);
    } else {
      fill_tensor(context, mask, (params.lower_bound + params.upper_bound) / 2);
    }
    return bend_on_gpu(*gpu, in, in, mask, out, context);
  }
  if (context.training()) {
    fill_uniform_mask(context.device(), params.lower_bound, params.upper_bound, mask);
  } else {
    fill_mask(mask, (params.lower_bound + params.upper_bound) / 2);
  }
  select_by_sign(in, in, mask, out);
}

// --- the operator ----------------------------------------------------------------------------

void forward(const LeakyParams& params, KernelContext& context) {
  switch (params.act_type) {
    case Kind::kPrelu:
      return prelu_forward(context);
    case Kind::kRrelu:
      return rrelu_forward(params, context);
    default:
      activation_forward(row_of(params.act_type), params.slope, context.in(0), context.out(0),
                         context);
  }
}

// Inputs: gradient, argument or result as the row says, and the slopes of prelu and rrelu.
void backward(const LeakyParams& params, KernelContext& context) {
  const Tensor &dy = context.in(0), &arg = context.in(1), &dx = context.out(0);
  switch (params.act_type) {
    case Kind::kPrelu:
      return prelu_backward(context);
    case Kind::kRrelu:
      if (const GpuTable* gpu = gpu_table(context))
        return bend_on_gpu(*gpu, arg, dy, context.in(2), dx, context);
      return select_by_sign(arg, dy, context.in(2), dx);
    default:
      activation_backward(row_of(params.act_type), params.slope, dy, arg, dx, context);
  }
}

Gradients gradient(const LeakyParams& params, Grad& grad) {
  const Value dy = grad.dout(0);
  if (params.act_type == Kind::kPrelu) {
    const Value dx = apply("_backward_LeakyReLU", {dy, grad.in(0), grad.in(1)}, grad.attrs());
    return {dx, output(dx, 1)};
  }
  if (params.act_type == Kind::kRrelu) {
    const Value x = grad.in(0), mask = grad.out(1);
    if (!grad.differentiable()) return {apply("_backward_LeakyReLU", {dy, x, mask}, grad.attrs())};
    const Value above = apply("_greater_scalar", {x}, {{"scalar", "0"}});
    return {dy * (above + (1.0 - above) * mask)};
  }
  const ActivationRow row = row_of(params.act_type);
  const Value arg = activation_uses(row) == ActivationUses::kY ? grad.out(0) : grad.in(0);
  if (grad.differentiable()) return {activation_gradient(row, params.slope, dy, arg)};
  return {apply("_backward_LeakyReLU", {dy, arg}, grad.attrs())};
}

OpBuilder<LeakyParams>& add_params(OpBuilder<LeakyParams>& op) {
  return op
      .choice("act_type", &LeakyParams::act_type,
              {{"elu", Kind::kElu},
               {"gelu", Kind::kGelu},
               {"leaky", Kind::kLeaky},
               {"prelu", Kind::kPrelu},
               {"rrelu", Kind::kRrelu},
               {"selu", Kind::kSelu}},
              "leaky", "The function below zero; gelu is x times the normal distribution of x.")
      .param("slope", &LeakyParams::slope, 0.25f, "Of leaky and elu.")
      .param("lower_bound", &LeakyParams::lower_bound, 0.125f, "Least slope of rrelu.")
      .param("upper_bound", &LeakyParams::upper_bound, 0.334f, "Largest slope of rrelu.")
      .dtypes(kFloating);
}

bool define() {
  OpBuilder<LeakyParams> op("LeakyReLU");
  op.alias("_npx_leaky_relu")
      .doc("A function that is straight above zero and flatter below.")
      .input("data", "The array.")
      .input("gamma", "Slopes of prelu: one, or one a channel.");
  add_params(op)
      .num_inputs([](const LeakyParams& params) { return params.act_type == Kind::kPrelu ? 2 : 1; })
      .outputs([](const LeakyParams& params) { return params.act_type == Kind::kRrelu ? 2 : 1; })
      .output("output")
      .output("mask")
      .inplace(0, 0)
      .infer([](const LeakyParams& params, Infer& infer) {
        for (int o = 0; o < infer.num_out(); ++o) infer.in(0).same_as(infer.out(o));
        if (params.act_type == Kind::kPrelu) infer_prelu(infer.in(0), infer.in(1));
      })
      .uses_random(draws)
      .cpu(forward)
      .grad(gradient);
  OpBuilder<LeakyParams> back("_backward_LeakyReLU");
  back.doc("Gradient of LeakyReLU.")
      .input("head_grad", "Gradient of the result.")
      .input("data", "Argument of the forward call.")
      .input("slopes", "Those of prelu and rrelu.");
  add_params(back)
      .num_inputs([](const LeakyParams& params) {
        return params.act_type == Kind::kPrelu || params.act_type == Kind::kRrelu ? 3 : 2;
      })
      .outputs([](const LeakyParams& params) { return params.act_type == Kind::kPrelu ? 2 : 1; })
      .inplace(0, 0)
      .inplace(1, 0)
      .infer([](const LeakyParams& params, Infer& infer) {
        infer.in(0).same_as(infer.in(1)).same_as(infer.out(0));
        if (params.act_type == Kind::kRrelu) infer.in(0).same_as(infer.in(2));
        if (params.act_type != Kind::kPrelu) return;
        infer.in(2).same_as(infer.out(1));
        infer_prelu(infer.in(1), infer.in(2));
      })
      .cpu(backward);
  return mark_portable({"LeakyReLU", "_backward_LeakyReLU"});
}

[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet
