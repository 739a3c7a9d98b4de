// SPDX-License-Identifier: Apache-2.0
// AdamW: weight decay apart from the gradient, and the gradient's factor as an array, so that
// dynamic loss scaling needs no wait. A factor that is 0, infinite or NaN marks a step that is to
// be left out.
#include "op/optim/tensor_scalar.h"
#include "op/optim/update_op.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

using Op = UpdateOp<UpdateScalars>;

constexpr int kScaleInput = 4, kMixedScaleInput = 5;

void infer_adamw(const UpdateScalars&, Infer& infer) {
  for (int i = 1; i < kScaleInput; ++i) infer.in(0).same_as(infer.in(i));
  infer.in(0).same_as(infer.out(0));
  require_scalar(infer.in(kScaleInput));
}

// A step whose factor is the only element of `scale`.
void scaled_update(UpdateRule rule, UpdateJob job, const Tensor& scale, KernelContext& context) {
  const Tensor &weight = context.in(0), &out = context.out(0);
  if (gpu_table(context) != nullptr) {
    keep_weight(context, weight, out);
    job.numbers.rescale_grad = scale;
  } else {
    job.scalars.rescale_grad = tensor_scalar(scale, 0);
    if (!usable_scale(job.scalars.rescale_grad)) return keep_weight(context, weight, out);
  }
  run_updates(rule, {&job, 1}, context);
}

void adamw_cpu(const UpdateScalars& scalars, KernelContext& context) {
  const UpdateJob job{
      scalars, context.in(0), context.in(1), {context.in(2), context.in(3)}, context.out(0), {}};
  scaled_update(UpdateRule::kAdamWScaleGrad, job, context.in(kScaleInput), context);
}

void infer_mixed_adamw(const UpdateScalars&, Infer& infer) {
  for (int i = 1; i < kMixedScaleInput; ++i) infer.in(0).same_shape(infer.in(i));
  infer.in(0).same_as(infer.out(0)).same_dtype(infer.in(1));
  for (int i = 2; i < kMixedScaleInput; ++i) infer.in(i).set_dtype(DType::kFloat32);
  require_scalar(infer.in(kMixedScaleInput));
}

void mixed_adamw_cpu(const UpdateScalars& scalars, KernelContext& context) {
  const Tensor& master = context.in(4);
  const UpdateJob job{scalars, master,        context.in(1), {context.in(2), context.in(3)},
                      master,  context.out(0)};
  scaled_update(UpdateRule::kAdamW, job, context.in(kMixedScaleInput), context);
}

[[maybe_unused]] const bool defined = [] {
  Op plain("_adamw_update");
  plain.op.doc("AdamW. Leaves the gradient scaled and clipped.")
      .input("weight", "Weight.")
      .input("grad", "Gradient.")
      .input("mean", "State, updated in place.")
      .input("var", "State, updated in place.")
      .input("rescale_grad", "Factor of the gradient, one element.")
      .mutates({2, 3})
      .clobbers({1})
      .inplace(0, 0)
      .infer(infer_adamw)
      .cpu(adamw_cpu);
  plain.lr().betas().epsilon(1e-8f).wd().eta().clip();

  Op mixed("_mp_adamw_update");
  mixed.op.doc("AdamW in mixed precision.")
      .input("weight", "Weight.")
      .input("grad", "Gradient.")
      .input("mean", "State in float32, updated in place.")
      .input("var", "State in float32, updated in place.")
      .input("weight32", "Master copy of the weight in float32.")
      .input("rescale_grad", "Factor of the gradient, one element.")
      .mutates({2, 3, 4})
      .inplace(0, 0)
      .infer(infer_mixed_adamw)
      .cpu(mixed_adamw_cpu);
  mixed.lr().betas().epsilon(1e-8f).wd().eta().clip();
  return mark_portable({"_adamw_update", "_mp_adamw_update"});
}();

}  // namespace
}  // namespace mxnet
