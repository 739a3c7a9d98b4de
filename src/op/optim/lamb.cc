// SPDX-License-Identifier: Apache-2.0
// LAMB in two phases, between which the caller takes norms: the direction, then a step along it.
#include "op/optim/tensor_scalar.h"
#include "op/optim/trust_ratio.h"
#include "op/optim/update_op.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

using Op = UpdateOp<UpdateScalars>;

void direction_cpu(const UpdateScalars& scalars, KernelContext& context) {
  const Tensor& weight =
      context.in(context.num_in() == 5 ? 4 : 0);  // the master copy if there is one
  const UpdateJob job{scalars,        weight, context.in(1), {context.in(2), context.in(3)},
                      context.out(0), {}};
  run_updates(UpdateRule::kLambDirection, {&job, 1}, context);
}

void infer_direction(const UpdateScalars&, Infer& infer) {
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  infer.in(0).same_shape(infer.out(0));
  infer.one_dtype();
}

void infer_mixed_direction(const UpdateScalars&, Infer& infer) {
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  infer.in(0).same_shape(infer.out(0)).same_dtype(infer.in(1));
  for (int i = 2; i < infer.num_in(); ++i) infer.in(i).set_dtype(DType::kFloat32);
  infer.out(0).set_dtype(DType::kFloat32);
}

void step_cpu(const UpdateScalars& scalars, KernelContext& context) {
  const Tensor& weight = context.in(context.num_in() == 5 ? 4 : 0);
  const Tensor &weight_norm = context.in(2), &direction_norm = context.in(3);
  const bool there = gpu_table(context) != nullptr;  // the norms are
  const float ratio =
      there ? 1.0f
            : trust_ratio(scalars, tensor_scalar(weight_norm, 0), tensor_scalar(direction_norm, 0));
  UpdateJob job{scaled_step(scalars, ratio), weight, context.in(1), {}, context.out(0), {}};
  if (there) {
    job.numbers.weight_norm = weight_norm;
    job.numbers.direction_norm = direction_norm;
  }
  run_updates(UpdateRule::kSgd, {&job, 1}, context);
}

void infer_norms(Infer& infer) {
  for (int i = 2; i < 4; ++i) {
    if (infer.in(i).ndim() > 0) infer.in(i).set_dim(0, 1);
    require_scalar(infer.in(i));
  }
}

void infer_step(const UpdateScalars&, Infer& infer) {
  infer_norms(infer);
  infer.in(0).same_as(infer.in(1)).same_as(infer.out(0));
  for (int i = 2; i < 4; ++i) infer.in(0).same_dtype(infer.in(i));
}

void infer_mixed_step(const UpdateScalars&, Infer& infer) {
  infer_norms(infer);
  infer.in(0).same_shape(infer.in(1)).same_shape(infer.in(4)).same_as(infer.out(0));
  for (int i = 1; i < 5; ++i) infer.in(i).set_dtype(DType::kFloat32);
}

Op phase1(const char* name, const char* doc) {
  Op builder(name);
  builder.op.doc(doc)
      .input("weight", "Weight.")
      .input("grad", "Gradient.")
      .input("mean", "State, updated in place.")
      .input("var", "State, updated in place.")
      .mutates({2, 3})
      .cpu(direction_cpu);
  mark_portable(name);
  builder.betas().epsilon(1e-6f).step().bias_correction().wd_required().rescale().clip();
  return builder;
}

Op phase2(const char* name, const char* doc) {
  Op builder(name);
  builder.op.doc(doc)
      .input("weight", "Weight.")
      .input("g", "Direction of phase 1.")
      .input("r1", "Norm of the weight, one element.")
      .input("r2", "Norm of the direction, one element.")
      .inplace(0, 0)
      .cpu(step_cpu);
  mark_portable(name);
  builder.lr().bounds();
  return builder;
}

[[maybe_unused]] const bool defined = [] {
  phase1("lamb_update_phase1", "The direction of a LAMB step.").op.infer(infer_direction);
  phase1("mp_lamb_update_phase1", "The direction of a LAMB step in mixed precision, in float32.")
      .op.input("weight32", "Master copy of the weight in float32.")
      .infer(infer_mixed_direction);
  phase2("lamb_update_phase2", "A step along the direction of phase 1.").op.infer(infer_step);
  phase2("mp_lamb_update_phase2", "A step along the direction of phase 1 in mixed precision.")
      .op.input("weight32", "Master copy of the weight in float32.")
      .mutates({4})
      .infer(infer_mixed_step);
  return true;
}();

}  // namespace
}  // namespace mxnet
